"""Tell what a watch wrote by its first bytes; what decodes it is not imported for that."""

from __future__ import annotations

import re

_BEGIN = re.compile(rb'^\s*\{\s*"headgate"\s*:\s*"watch"\s*,')


def is_watch(data: bytes) -> bool:
    """Whether the first line is one that a watch wrote."""
    return bool(_BEGIN.match(data.lstrip(b"\xef\xbb\xbf\r\n \t")[:200]))
