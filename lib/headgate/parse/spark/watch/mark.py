"""What marks the lines and the files of a watch; what decodes them is not imported for that."""

from __future__ import annotations

import re

SCHEMA = 1
"""Version of the record format. Headgate reads only this version."""
PART = re.compile(
    r"(?P<query>[0-9a-f-]{36})_(?P<begun>\d{8}T\d{9}Z)_(?P<run>[0-9a-f]{8})_(?P<number>\d{6})\.jsonl"
)
"""Name of a file: query id, time when the watch first saw the run, run id, part number."""
_BEGIN = re.compile(rb'^\s*\{\s*"headgate"\s*:\s*"watch"\s*,')


def is_watch(data: bytes) -> bool:
    """Whether the first line is one that a watch wrote."""
    return bool(_BEGIN.match(data.lstrip(b"\xef\xbb\xbf\r\n \t")[:200]))
