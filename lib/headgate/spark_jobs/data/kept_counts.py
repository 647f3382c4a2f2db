"""What a program keeps in a file over all starts of a run, such as what its batches did."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_NO_TIME = "1970-01-01T00:00:00.000Z"


class KeptFile:
    """A JSON file of the program, which a crash leaves as it was or as it becomes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Any:
        """Return what it has, None if it isn't there."""
        return json.loads(self._path.read_text("utf-8")) if self._path.is_file() else None

    def write(self, value: Any) -> None:
        """Replace what it has."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_name(f"{self._path.name}.part")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)


class BatchCounts:
    """Counts of committed batches, each counted once; `kept` is what a file keeps of them.

    A program that is killed right after a commit never sees the batch's progress, so that
    `facts` say how many batches are not counted.
    """

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        self.kept: dict[str, Any] = kept if kept is not None else {}

    def add(self, progress: dict[str, Any]) -> None:
        """Count a batch by its progress as Spark reports it."""
        number, kept = progress["batchId"], self.kept
        if number <= kept.get("last", -1):
            return
        took = progress["durationMs"].get("triggerExecution", 0)
        kept["first"] = kept.get("first", number)
        kept["last"] = number
        for name, more in (("batches", 1), ("read", progress["numInputRows"]), ("ms", took)):
            kept[name] = kept.get(name, 0) + more
        operators = progress.get("stateOperators") or ()
        dropped = [o.get("numRowsDroppedByWatermark", 0) for o in operators]
        if dropped:
            kept["dropped"] = kept.get("dropped", 0) + sum(dropped)
        # -1 of a sink that doesn't count; then the sum is unknown, too.
        written = progress.get("sink", {}).get("numOutputRows", -1)
        before = kept.get("written", 0)
        kept["written"] = before + written if before >= 0 and written >= 0 else -1

    def facts(self) -> dict[str, Any]:
        """Return what is known: `read` records, `written` rows, rows `dropped_by_watermark`.

        `processing_seconds` are those of the batches, without start-up.
        """
        kept = self.kept
        if not kept:
            return {}
        found = {"read": kept["read"], "processing_seconds": round(kept["ms"] / 1000, 3)}
        if kept["written"] >= 0:
            found["written"] = kept["written"]
        if "dropped" in kept:
            found["dropped_by_watermark"] = kept["dropped"]
        missing = kept["last"] - kept["first"] + 1 - kept["batches"]
        return {**found, **({"uncounted_batches": missing} if missing else {})}


class CountsByBatch:
    """What each committed batch has counted, by its number, in a file of its own."""

    def __init__(self, path: Path) -> None:
        self._file = KeptFile(path)
        self._found: dict[str, dict[str, Any]] = self._file.read() or {}

    def take(self, progress: dict[str, Any]) -> None:
        """Add what Spark reports of a batch."""
        operators = progress["stateOperators"]
        watermark = progress.get("eventTime", {}).get("watermark")
        self._found[str(progress["batchId"])] = {
            "read": max(progress["numInputRows"], 0),
            "dropped": sum(o["numRowsDroppedByWatermark"] for o in operators),
            "state": sum(o["numRowsTotal"] for o in operators),
            "watermark": watermark if watermark != _NO_TIME else None,
        }
        self._file.write(self._found)

    def facts(self, done: range) -> dict[str, Any]:
        """Return the sums, and the last watermark and state; `done` are the committed batches."""
        found = [self._found[str(n)] for n in done if str(n) in self._found]
        last = found[-1] if found else {}
        return {
            "read": sum(c["read"] for c in found),
            "dropped": sum(c["dropped"] for c in found),
            "batches": len(done),
            "uncounted": [n for n in done if str(n) not in self._found],
            "watermark": last.get("watermark"),
            "state": last.get("state", 0),
        }
