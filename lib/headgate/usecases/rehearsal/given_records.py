"""Inputs from a file, in the place of a cluster's: one JSON object a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headgate.errors import EvidenceError
from headgate.gateway.kafka.read_records import Record
from headgate.text.json_text import read_json

_FIELDS = frozenset({"topic", "partition", "key", "value", "timestamp", "headers"})
_EXPECTED = (
    'expected {"topic": "...", "key": "...", "value": "...", "partition": 0, "timestamp": ms}; only'
    " topic is required"
)


def given_records(file: Path) -> list[Record]:
    """Return the records of a file; keys and values are text, and null deletes.

    Without a partition, the key decides as it does for Java's producer. EvidenceError with the line
    where one is no such object.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EvidenceError(f"{file} can't be read: {error}") from None
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            found.append(_record(line, f"{file}:{number}"))
    return found


def _record(line: str, location: str) -> Record:
    try:
        plain = read_json(line)
    except ValueError:
        plain = None
    if not isinstance(plain, dict) or not plain.keys() <= _FIELDS or not _fits(plain):
        raise EvidenceError(f"{location}: {_EXPECTED}")
    headers = plain.get("headers") or {}
    return Record(
        topic=plain["topic"],
        partition=plain.get("partition", -1),
        offset=-1,
        key=_bytes(plain.get("key")),
        value=_bytes(plain.get("value")),
        timestamp=plain.get("timestamp"),
        headers=tuple((str(k), _bytes(str(v))) for k, v in headers.items()),
    )


def _fits(plain: dict[str, Any]) -> bool:
    numbers = [plain.get("partition", 0), plain.get("timestamp") or 0]
    texts = [plain.get("key"), plain.get("value")]
    return (
        isinstance(plain.get("topic"), str)
        and all(isinstance(n, int) and n >= 0 for n in numbers)
        and all(t is None or isinstance(t, str) for t in texts)
        and isinstance(plain.get("headers") or {}, dict)
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
