"""What the batches of a query did, summed up over all starts of a run."""

from __future__ import annotations

from typing import Any


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
