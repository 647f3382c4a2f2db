"""Read one file of the offset log: what a batch is to read, written before the batch runs.

v1                                  by position, one line a source, `-` where it had nothing
{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{...}}
{"orders":{"0":24000}}

v2                                  by name (4.2, `spark.sql.streaming.offsetLog.formatVersion`)
{...,"sourceMetadataInfo":{...}}
orders:{"orders":{"0":24000}}

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.text.json_text import read_json, whole

_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class OffsetLog:
    """One file: `offsets` are (name or None, the source's own JSON or text or None)."""

    version: int
    metadata: Mapping[str, Any]
    offsets: tuple[tuple[str | None, Any], ...]

    @property
    def at_ms(self) -> int | None:
        """When the batch was planned, in milliseconds since 1970; None where it is not said."""
        found = whole(self.metadata.get("batchTimestampMs"))
        return found or None

    @property
    def watermark_ms(self) -> int | None:
        """The watermark that the batch ran with, in milliseconds since 1970."""
        return whole(self.metadata.get("batchWatermarkMs"))


def read_offsets(data: bytes) -> OffsetLog:
    """Return one file of the offset log, v1 (by position) or v2 (by name).

    Raises ValueError where it is neither.
    """
    version, lines = versioned(data)
    if version not in (1, 2):
        raise ValueError(f"unknown version {version} of the offset log")
    if len(lines) < 2:
        raise ValueError("the file is incomplete")
    metadata = read_json(lines[0] or "{}")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("conf", {}), dict):
        raise ValueError("the metadata isn't a JSON object")
    read = _named if version == 2 else _positional
    return OffsetLog(version, metadata, tuple(read(line) for line in lines[1:]))


def versioned(data: bytes) -> tuple[int, list[str]]:
    """Return the version in the first line of a log's file, and its other lines."""
    # Line ends are Spark's own: splitlines would also cut at what may stand within a value.
    lines = data.decode().split("\n")
    head = lines[0].strip().lstrip("\0")
    if not (head[:1] == "v" and head[1:].isascii() and head[1:].isdecimal() and len(head) < 9):
        raise ValueError("the first line has no version" if data else "the file is empty")
    rest = [line.removesuffix("\r") for line in lines[1:]]
    return int(head[1:]), rest[:-1] if rest and not rest[-1] else rest


def offset_json(text: str) -> Any:
    """Offsets are a source's own format: most write JSON, which a half-written line is not."""
    try:
        return read_json(text)
    except ValueError:
        if text[:1] in ("{", "["):
            raise
        return text


def _positional(line: str) -> tuple[str | None, Any]:
    return None, None if line == _NOTHING else offset_json(line)


def _named(line: str) -> tuple[str | None, Any]:
    name, _, offsets = line.partition(":")
    return name, None if offsets == _NOTHING else offset_json(offsets)
