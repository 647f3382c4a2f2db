"""The ledger: one line for each record that the producer wrote, each with an id of its own."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """One record as the broker took it; `at` is its event time in ms, `key` its user or order."""

    id: str
    topic: str
    partition: int
    offset: int
    at: int
    key: str


class Ledger:
    """A file of JSON lines, only ever appended to."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def add(self, entry: Entry) -> None:
        """Append one record."""
        with self.file.open("a") as file:
            file.write(json.dumps(asdict(entry)) + "\n")

    def entries(self, topic: str = "") -> list[Entry]:
        """Return what was written so far, of one topic or of all."""
        if not self.file.exists():
            return []
        found = [Entry(**json.loads(line)) for line in self.file.read_text().splitlines()]
        return [entry for entry in found if topic in ("", entry.topic)]
