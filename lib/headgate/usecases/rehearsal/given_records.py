"""Input records from a file, instead of a cluster's: one JSON object per line."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from headgate.errors import EvidenceError
from headgate.gateway.kafka.read_records import Record
from headgate.text.json_text import read_json
from headgate.usecases.rehearsal.properties_file import read_lines

_BASE64 = "_base64"
_FIELDS = frozenset(
    {"topic", "partition", "key", "value", "timestamp", "headers"}
    | {f"{name}{_BASE64}" for name in ("key", "value")}
)
_EXPECTED = (
    'expected {"topic": "...", "key": "...", "value": "...", "partition": 0, "timestamp": ms}. Only'
    " topic is required. For bytes that aren't text, use key_base64 and value_base64"
)


def given_records(file: Path) -> list[Record]:
    """Return the records of a file; keys and values are text or base64, and null is a tombstone.

    Without a partition, the key decides, as for Kafka's Java producer. EvidenceError with the line
    if it isn't such an object.
    """
    found = []
    for number, line in enumerate(read_lines(file), start=1):
        if line.strip():
            found.append(_record(line, f"{file}:{number}"))
    return found


def _record(line: str, location: str) -> Record:
    try:
        plain = read_json(line)
    except ValueError:
        plain = None
    if not isinstance(plain, dict) or not plain.keys() <= _FIELDS or not _fits(plain):
        raise EvidenceError(f"{location}: {_EXPECTED}. Correct this line")
    headers = plain.get("headers") or {}
    return Record(
        topic=plain["topic"],
        partition=plain.get("partition", -1),
        offset=-1,
        key=_part(plain, "key"),
        value=_part(plain, "value"),
        timestamp=plain.get("timestamp"),
        headers=tuple((str(k), _bytes(str(v))) for k, v in headers.items()),
    )


def _fits(plain: dict[str, Any]) -> bool:
    numbers = [plain.get("partition", 0), plain.get("timestamp") or 0]
    texts = [plain.get("key"), plain.get("value")]
    coded = {name: plain.get(f"{name}{_BASE64}") for name in ("key", "value")}
    return (
        isinstance(plain.get("topic"), str)
        and all(isinstance(n, int) and n >= 0 for n in numbers)
        and all(t is None or isinstance(t, str) for t in texts)
        and all(c is None or (plain.get(n) is None and _is_base64(c)) for n, c in coded.items())
        and isinstance(plain.get("headers") or {}, dict)
    )


def _is_base64(text: object) -> bool:
    try:
        return isinstance(text, str) and base64.b64decode(text, validate=True) is not None
    except ValueError:
        return False


def _part(plain: dict[str, Any], name: str) -> bytes | None:
    coded = plain.get(f"{name}{_BASE64}")
    return _bytes(plain.get(name)) if coded is None else base64.b64decode(coded)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
