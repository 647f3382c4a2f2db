"""Run a Spark query, as the worker's own program, to the offsets that exist now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from headgate.errors import RunCancelledError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.spark_jobs import JobOutcome, JobResult, SparkJob
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_entry_point, check_topics
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.none_read import check_none_read
from headgate.reprocess.steps.checkpoint.swap import check_query
from headgate.reprocess.steps.offsets.skip_replaced import replaced_in, since_words
from headgate.text.numbers import plural

PROGRAM = "run_bounded"
# Of more partitions only the total is shown while it runs.
SHOWN_PARTITIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBounded(StepBase):
    """Run the entry point up to the end offsets of the run, with the query's sink and checkpoint.

    The end offsets are found once and kept in a file of the run, so that a program that is started
    again ends at the same ones. `rate` is in records per second, `time_limit` in seconds.
    `replaced_since` says by topic from which time on (Unix milliseconds) its records are rewritten:
    the run ends before them. `topics` maps the name of such a topic to its `id` and `partitions`.
    """

    action: ClassVar[str] = "run_bounded"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    entry_point: str
    query: str | None = None
    max_records: int | None = None
    rate: int | None = None
    time_limit: int | None = None
    replaced_since: dict[str, int] = field(default_factory=dict)
    topics: dict[str, dict[str, Any]] = field(default_factory=dict)

    def describe(self) -> str:
        limits = (
            [f"at most {plural(self.max_records, 'record')} per batch"] if self.max_records else []
        )
        limits += [f"at most {self.rate} records/s"] if self.rate else []
        limits += [f"time limit {self.time_limit} s"] if self.time_limit else []
        more = f" ({', '.join(limits)})" if limits else ""
        to = "the latest offsets at the start of this step"
        if self.replaced_since:
            to = f"the first record that the run replaces ({since_words(self.replaced_since)})"
        return f"run {self.entry_point} on checkpoint {self.checkpoint} up to {to}, then stop{more}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs, or is not the planned one.

        After a crash the age of the logs says nothing: the run's own program wrote them. Nor does
        it where an earlier step of the run has just put the checkpoint there.
        """
        is_own = again or bool(self.replaced_since)
        check_stopped(inspector, self.pipeline, checkpoint=None if is_own else self.checkpoint)
        check_entry_point(inspector, self.pipeline, self.entry_point)
        check_query(inspector, self.checkpoint, self.query_id)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the end offsets are kept, and note the batch before the run."""
        found = check_query(applier, self.checkpoint, self.query_id)
        folder = PurePosixPath(applier.folders.snapshot_folder())
        if not self.replaced_since:
            return {"bounds": str(folder / "bounds.json"), "batch": found.last_commit_batch}
        # A run may have such a step for each of several pipelines.
        until: dict[str, dict[str, int]] = {}
        check_topics(applier, self.topics)
        found_replaced = replaced_in(applier, self.replaced_since)
        check_none_read(applier, self.pipeline, self.checkpoint, found_replaced)
        for (topic, number), replaced in found_replaced.items():
            until.setdefault(topic, {})[str(number)] = replaced.begin
        bounds = str(folder / f"bounds-{self.query_id}.json")
        return {"bounds": bounds, "batch": found.last_commit_batch, "until": until}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the program to its end; it continues where an earlier try was."""
        job = SparkJob(
            program=PROGRAM,
            arguments=tuple(self._arguments(was)),
            what=f"the bounded run of {self.pipeline}",
        )
        found = applier.spark_jobs.run(job, lambda report: _show(applier, report))
        applier.note(_said(found, self.pipeline))
        if found.outcome is JobOutcome.FAILED:
            raise StepError(
                f"{self.pipeline} failed: {found.error.rstrip('.')}. {_done(found)} Correct the "
                f"cause, then run `headgate resume {applier.run}`"
            )
        if found.outcome is JobOutcome.STOPPED:
            raise RunCancelledError(
                f"the time limit of {self.time_limit} s was reached. {_done(found)} To continue, "
                f"run `headgate resume {applier.run}`"
            )

    def _arguments(self, was: PriorState) -> list[str]:
        given = {
            "entry-point": self.entry_point,
            "query": self.query,
            "checkpoint": self.checkpoint,
            "query-id": self.query_id,
            "bounds": was["bounds"],
            "max-records": self.max_records,
            "rate": self.rate,
            "time-limit": self.time_limit,
            "until": json.dumps(was["until"]) if "until" in was else None,
        }
        return [f"--{name}={value}" for name, value in given.items() if value is not None]

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a batch is uncommitted: then something else writes to the checkpoint."""
        found = check_query(applier, self.checkpoint, self.query_id)
        if found.last_offset_batch != found.last_commit_batch:
            raise StepError(
                f"batch {found.last_offset_batch} of checkpoint {self.checkpoint} is uncommitted "
                "after the run: another process writes to the checkpoint. Stop that process, then "
                "resume the run"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """There is nothing to undo here: the undo of an earlier step restores the checkpoint."""
        return ()


def _show(applier: Applier, report: Mapping[str, Any]) -> None:
    parts = report.get("partitions", {})
    if len(parts) > SHOWN_PARTITIONS:
        return
    for name, (begin, at, end) in sorted(parts.items()):
        if end > begin:
            applier.progress(max(at - begin, 0), end - begin, f"records of {name}")


def _said(found: JobResult, pipeline: str) -> str:
    took = found.facts.get("seconds")
    startup = found.facts.get("startup_seconds")
    when = "in" if found.outcome is JobOutcome.DONE else "after"
    times = f" {when} {took:.0f} s" if took else ""
    times += f", including {startup:.0f} s to start Spark" if took and startup else ""
    how = {
        JobOutcome.DONE: "has processed all records up to the end offsets of the run",
        JobOutcome.STOPPED: "has stopped between two batches",
        JobOutcome.FAILED: "has failed",
    }
    return f"{pipeline} {how[found.outcome]}{times}. {_done(found)}"


def _done(found: JobResult) -> str:
    """Say which batches are committed, and the offsets that they reached."""
    count = found.facts.get("batches", 0)
    if not count:
        return "No batch was committed."
    first, last = found.facts["first_batch"], found.facts["last_batch"]
    numbers = f"batch {first}" if first == last else f"batches {first} to {last}"
    parts = [
        f"{topic}[{number}] offset {at}"
        for topics in found.facts["reached"].values()
        for topic, ats in topics.items()
        for number, at in ats.items()
    ]
    shown = ", ".join(parts[:SHOWN_PARTITIONS])
    left = len(parts) - SHOWN_PARTITIONS
    more = f" and {plural(left, 'more partition')}" if left > 0 else ""
    records = plural(found.facts["records"], "record")
    # Sources of files have no offsets.
    reached = f", up to {shown}{more}" if shown else ""
    return f"Committed: {numbers} ({records}){reached}."
