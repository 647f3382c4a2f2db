"""What marks the lines and the files of a watch; what decodes them is not imported for that."""

from __future__ import annotations

import re

SCHEMA = 1
"""Of the lines: a driver writes it, a reader takes no other."""
PART = re.compile(
    r"(?P<query>[0-9a-f-]{36})_(?P<begun>\d{8}T\d{9}Z)_(?P<run>[0-9a-f]{8})_(?P<number>\d{6})\.jsonl"
)
"""A file's name: query id, when the watch first heard of the run, the run, the part."""
_BEGIN = re.compile(rb'^\s*\{\s*"headgate"\s*:\s*"watch"\s*,')


def is_watch(data: bytes) -> bool:
    """Whether the first line is one that a watch wrote."""
    return bool(_BEGIN.match(data.lstrip(b"\xef\xbb\xbf\r\n \t")[:200]))
