"""One bounded batch of a query on a copied checkpoint, and what the engine says of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgate.spark_jobs import batch_log
from headgate.spark_jobs.block_start import Unstarted
from headgate.spark_jobs.engine_error import StopCause, java_error, stop_cause
from headgate.spark_jobs.replace_sink import ReplacedSink, columns
from headgate.spark_jobs.run_one_trigger import (
    StillRunningError,
    Triggered,
    first_trigger,
    is_continuous,
)
from headgate.spark_jobs.state_rows import state_rows

_MOST_STARTS = 12
_NO_COMMIT = "The checkpoint has no committed batch to restart from"
_NOT_NEW = "the sources had no new rows, so the rehearsal ran a batch without input"
_NO_ROWS = "the sources had no new rows, so the rehearsal ran no new batch with rows"
_NOT_ASKED = "no source was read: offsets, topics, paths and new rows were not tested"
_SLOW_MESSAGE = "the batch did not end within the timeout"
_SLOW = (
    "Can this machine reach the sources? If the batch only needs more time, rehearse with a longer"
    " timeout or fewer records (`headgate rehearse`: --timeout, --max-records)"
)


def run(
    wish: dict[str, Any], query: Unstarted, scratch: Path, deadline: float, notes: Sequence[str]
) -> dict[str, Any]:
    """Return the fields of an `EngineVerdict` (without checkpoint and output), and `rows_json`.

    `rows_json` names a file with every row that was written, one JSON object a line. `notes` are
    what is known not to be tested.
    """
    rehearsal = Rehearsal(wish, ReplacedSink(query, scratch / "rows"), scratch, deadline)
    rehearsal.not_exercised.extend(notes)
    rehearsal.before = state_rows(rehearsal.spark, wish["checkpoint"], rehearsal.last)
    found = rehearsal.outcome() | rehearsal.facts()
    if wish["touched"]:
        try:
            found["rollback"] = rollback(wish, query, rehearsal.sink.kind, scratch)
        except Exception as error:
            # What was found before stands, whatever this one fails on.
            note = f"{type(error).__name__}: {str(error).split(chr(10), 1)[0]}"
            found["rollback"] = dict.fromkeys(("error_class", "message")) | {
                "outcome": "unknown",
                "note": note,
            }
    return found


def rollback(wish: dict[str, Any], query: Unstarted, kind: str, scratch: Path) -> dict[str, Any]:
    """Start the query on the copy that another version has touched; refused, once more repaired.

    `kind` is the query's own sink. Returns the fields of a `RollbackTrial`; each start has its own
    time.
    """
    touched = Path(wish["touched"])

    def start(folder: str) -> dict[str, Any]:
        own = wish | {"checkpoint": str(touched), "as_left": True, "batches": 1}
        own["batch"] = "none" if wish["batch"] == "none" else "real"
        sink = ReplacedSink(query, scratch / folder, kind)
        deadline = time.monotonic() + float(wish["seconds"])
        rehearsal = Rehearsal(own, sink, scratch, deadline)
        found = rehearsal.outcome()
        return found | {"rows_in": sum(b["rows_in"] for b in rehearsal.batches)}

    begun = batch_log.uncommitted(touched)
    found = start("back")
    kept = {name: found.get(name) for name in ("outcome", "error_class", "message", "rows_in")}
    if found["outcome"] != "refuses":
        return kept | {"note": found.get("question") or ""}
    # What the attempt has not committed is all that it did; else its batches are taken back.
    last = min(begun) - 1 if begun else wish["last_commit"]
    removed = batch_log.remove_batches_after(touched, last)
    if not removed:
        return kept
    return kept | {"removed": removed, "repaired": start("repaired")["outcome"]}


class Rehearsal:
    """A query on one copy: `outcome` starts it, `facts` returns afterwards what happened."""

    def __init__(
        self, wish: dict[str, Any], sink: ReplacedSink, scratch: Path, deadline: float
    ) -> None:
        self.wish, self.deadline = wish, deadline
        self.checkpoint = Path(wish["checkpoint"])
        self.scratch = scratch
        self.not_exercised: list[str] = []
        self.batches: list[dict[str, Any]] = []
        self.progress: list[dict[str, Any]] = []
        self.rows: list[str] = []
        self.spark = sink.writer._spark
        self.writer = sink.writer
        self.logged = batch_log.batches(self.checkpoint, "offsets")
        self.last = max(batch_log.batches(self.checkpoint, "commits"), default=None)
        self.before: list[dict[str, Any]] = []
        self.sink = sink

    def outcome(self) -> dict[str, Any]:
        """Take the batches that were wished for, and return how that ended."""
        try:
            return self._outcome()
        except StillRunningError as error:
            message = f"{_SLOW_MESSAGE}. Last status: {error}"
            return {"outcome": "unknown", "message": message, "question": _SLOW}

    def _outcome(self) -> dict[str, Any]:
        if is_continuous(self.writer):
            return self._continuous()
        as_left = self.wish["batch"] == "none" and self.wish.get("as_left")
        if as_left and batch_log.uncommitted(self.checkpoint):
            # What another version left is what this one finds, as after a real attempt.
            return self._start("repeated") or self._resumed()
        match self.wish["batch"]:
            case "none":
                return self._empty(_NOT_ASKED)
            case "given":
                return self._given(Path(self.wish["given"]["checkpoint"]))
        return self._real()

    def _real(self) -> dict[str, Any]:
        """Take batches until one took new rows; where the sources have none, take an empty one."""
        for _ in range(_MOST_STARTS):
            was_begun, before = batch_log.uncommitted(self.checkpoint), len(self.batches)
            done = self._start("repeated" if was_begun else "new")
            if done is not None:
                return done
            if self._new_batches() >= int(self.wish["batches"]):
                return self._resumed()
            if len(self.batches) == before:
                break
        if not self.batches:
            return self._empty(_NOT_NEW)
        if not self._new_batches():
            self.not_exercised.append(_NO_ROWS)
        return self._resumed()

    def _new_batches(self) -> int:
        return sum(b["kind"] == "new" and b["rows_in"] > 0 for b in self.batches)

    def _given(self, source: Path) -> dict[str, Any]:
        """Take exactly the batches that another version took, from the positions of its log."""
        for number in batch_log.batches(source, "offsets"):
            if self.last is not None and number <= self.last:
                continue
            batch_log.give_batch(source, self.checkpoint, number)
            if (done := self._start("pinned")) is not None:
                return done
        return self._resumed()

    def _empty(self, note: str) -> dict[str, Any]:
        """Take one batch of nothing, which loads the state and has its schema checked."""
        self.not_exercised.append(note)
        begun = batch_log.uncommitted(self.checkpoint)
        if begun:
            self.not_exercised.append(f"the rehearsal skipped the uncommitted batch {begun[-1]}")
            batch_log.forget(self.checkpoint, begun)
        if batch_log.write_empty_batch(self.checkpoint) is None:
            return {
                "outcome": "unknown",
                "question": f"{_NO_COMMIT}. Does the query start with an empty checkpoint?",
            }
        return self._start("empty") or self._resumed()

    def _continuous(self) -> dict[str, Any]:
        triggered = first_trigger(self.writer, str(self.checkpoint), deadline=self.deadline)
        self.progress += triggered.progress
        if triggered.error is not None:
            return self._failed_start(triggered)
        self.not_exercised.append("a continuous query was stopped after its first epoch")
        return self._resumed()

    def _start(self, kind: str) -> dict[str, Any] | None:
        """Start once and note the batch that was committed; return the refusal, if it is one."""
        committed = set(batch_log.batches(self.checkpoint, "commits"))
        self.logged = batch_log.batches(self.checkpoint, "offsets")
        try:
            self.sink.check()
            triggered = first_trigger(self.writer, str(self.checkpoint), deadline=self.deadline)
        except Exception as error:
            if java_error(error) is None:
                raise  # ours, or a time that is over
            triggered = Triggered(error=error, at_start=True)
        if triggered.error is not None:
            is_ours = kind in ("empty", "pinned")
            return self._failed_start(triggered) | ({"stage": None} if is_ours else {})
        self.progress += triggered.progress
        for number in sorted(set(batch_log.batches(self.checkpoint, "commits")) - committed):
            self._note(number, kind, triggered)
        return None

    def _note(self, number: int, kind: str, triggered: Triggered) -> None:
        progress = next((p for p in triggered.progress if p["batchId"] == number), {})
        rows = self.sink.rows(number, is_only=not self.batches)
        self.rows += rows or ()
        self.batches.append(
            {
                "number": number,
                "kind": kind,
                "rows_in": int(progress.get("numInputRows", 0)),
                "rows_out": None if rows is None else len(rows),
            }
        )

    def _failed_start(self, triggered: Triggered) -> dict[str, Any]:
        found = stop_cause(self.sink.error or triggered.error)
        fields = {
            "error_class": found.error_class,
            "condition": found.condition,
            "message": found.message,
            "stage": self._stage(triggered),
        }
        if found.is_around:
            return fields | {"outcome": "unknown", "question": _around(found)}
        return fields | {"outcome": "refuses"}

    def _stage(self, triggered: Triggered) -> str:
        """Return how far it came; an entry that we logged ourselves says nothing about that."""
        if triggered.at_start:
            return "start"
        is_logged = self.logged != batch_log.batches(self.checkpoint, "offsets")
        return "after_offsets" if is_logged else "before_offsets"

    def _resumed(self) -> dict[str, Any]:
        return {"outcome": "resumes"}

    def facts(self) -> dict[str, Any]:
        """Return what is reported whatever the outcome was."""
        out = [b["rows_out"] for b in self.batches]
        kept = self.scratch / "rows.jsonl"
        kept.write_text("".join(f"{row}\n" for row in self.rows), encoding="utf-8")
        return {
            "rows_in": sum(b["rows_in"] for b in self.batches) if self.batches else None,
            "rows_out": None if not out or None in out else sum(out),
            "batches": self.batches,
            "state": self._state(),
            "spark_version": str(self.spark.version),
            "sink": self.sink.words,
            "not_exercised": self.not_exercised,
            "rows_json": str(kept),
            "columns": columns(self.writer),
        }

    def _state(self) -> list[dict[str, Any]]:
        """Return the stores with their rows before and after, and the memory of their operator."""
        done = self.batches[-1]["number"] if self.batches else None
        after = state_rows(self.spark, str(self.checkpoint), done)
        memory = self._memory()
        keys = ("operator_id", "operator", "store")
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for word, stores in (("before", self.before), ("after", after)):
            for store in stores:
                key = tuple(store[k] for k in keys)
                found.setdefault(key, dict(zip(keys, key, strict=True)))[word] = store["rows"]
        return [s | {"memory": memory.get(s["operator_id"])} for s in found.values()]

    def _memory(self) -> dict[int, int]:
        """Return bytes by operator: progress lists them in the order of their ids."""
        told = [p["stateOperators"] for p in self.progress if p["stateOperators"]]
        operators: list[dict[str, Any]] = told[-1] if told else []
        return {i: int(o["memoryUsedBytes"]) for i, o in enumerate(operators)}


def _around(refusal: StopCause) -> str:
    return (
        f"Is {refusal.error_class} caused by this machine (network, permissions, disk space, jars)"
        " rather than by the query? Rehearse on a machine that reaches the sources, or use"
        " --batch none"
    )
