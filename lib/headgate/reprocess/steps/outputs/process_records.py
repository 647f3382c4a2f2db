"""Have Spark run a pipeline's function over a range of records, into a folder of the run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.spark_jobs import JobOutcome, SparkJob
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.failing_records import failing_file
from headgate.reprocess.steps.base.step import (
    PriorState,
    Step,
    check_entry_point,
    check_topics,
    known_log,
)
from headgate.text.numbers import as_records, plural

# A Delta table's first version; Spark's other writers leave _SUCCESS.
_DELTA_LOG = "_delta_log/00000000000000000000.json"
Offsets = dict[str, dict[str, tuple[int, int]]]


def staged_folder(folder: str, run: str) -> str:
    """Return where a run's results are before they are put in place: beside it, hidden."""
    path = PurePosixPath(folder)
    return str(path.parent / f".{path.name}.headgate-{run}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Processing(StepBase):
    """Run `entry_point` over `offsets`; what its kinds differ in is where the results go.

    `offsets` has the first offset and the one after the last, by topic and partition. Results are
    kept if their time is in `[start, until)`, input if its event time is in `[input_start,
    input_until)`; None: no limit. `result_time` names the column with a result's time. Times are
    ISO 8601 in UTC. `registered` is False for a function that isn't the pipeline's own. `stream`
    has `max_records` of a batch, the `keys` of which the last row is kept, and the `rate` in
    records per second if it has a limit; None: as a batch. Up to `max_failing` records at which the
    function fails are left out, and kept in a file of the run; None: the first one stops the run.
    """

    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    entry_point: str
    topics: dict[str, dict[str, Any]]
    offsets: Offsets
    query: str | None = None
    result_time: str | None = None
    start: str | None = None
    until: str | None = None
    input_start: str | None = None
    input_until: str | None = None
    registered: bool = True
    stream: dict[str, Any] | None = None
    max_failing: int | None = None
    config: dict[str, str] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """How many offsets are read."""
        return sum(e - b for parts in self.offsets.values() for b, e in parts.values())

    @property
    def uses_delta(self) -> bool:
        """Whether the target is a Delta table."""
        return False

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a record of the range is gone, or the function is another one."""
        if self.registered:
            check_entry_point(inspector, self.pipeline, self.entry_point)
        check_topics(inspector, self.topics)
        for name, topic in inspector.kafka.topics(self.offsets).items():
            for part in topic.partitions:
                begin, end = known_log(name, part)
                first, after = self.offsets[name].get(str(part.number), (begin, begin))
                if first < after and first < begin:
                    raise RefusedError(
                        f"{name}[{part.number}] now begins at offset {begin}, after the "
                        f"planned offset {first}: earlier records expired. Run `headgate plan` "
                        "again with a later range"
                    )
                if after > end:
                    raise RefusedError(
                        f"{name}[{part.number}] ends at offset {end}, before the planned end "
                        f"offset {after}. Run `headgate plan` again"
                    )

    def work(self, applier: Applier, *target: str, folder: str | None = None) -> int:
        """Run the program with the arguments that name its target; return how many were written.

        `folder` has the checkpoint of a stream, from which a resumed run continues.
        """
        more: tuple[str, ...] = ("--work", folder) if folder else ()
        if self.max_failing is not None:
            more += ("--failing", failing_file(applier), "--max-failing", str(self.max_failing))
        job = self.job(*target, *more)
        result = applier.spark_jobs.run(job)
        if result.outcome is not JobOutcome.DONE:
            raise StepError(
                f"{job.what} failed: {result.error.rstrip('.')}. Correct the cause, then "
                "resume the run"
            )
        facts = result.facts
        applier.folders.write_record(_report(applier, self.entry_point), json.dumps(dict(facts)))
        applier.note(self.report(facts))
        return int(facts["written"])

    def job(self, *target: str) -> SparkJob:
        """Return the program, with the arguments that name its target."""
        return SparkJob(
            program="replay_stream" if self.stream else "replay_query",
            arguments=(*self._arguments(), *target),
            what=f"the processing of {', '.join(sorted(self.offsets))}",
            config=self.config,
            delta=self.uses_delta,
        )

    def report(self, facts: Mapping[str, Any]) -> str:
        """Return what the program has done, as a sentence for the Runs page."""
        return (
            f"{plural(facts['read'], 'record')} read, {failing_counts(facts)}{stream_counts(facts)}"
            f"{plural(facts['written'], 'result')} written "
            f"in {facts['seconds']:.0f} s, including {facts['startup_seconds']:.0f} s to start "
            "Spark"
        )

    def stream_folder(self, beside: str, run: str) -> PriorState:
        """Return the folder of a stream's checkpoint, which executors must see; none of a batch."""
        return {"stream": staged_folder(f"{beside}.stream", run)} if self.stream else {}

    def _arguments(self) -> list[str]:
        given = {
            "--entry-point": self.entry_point,
            "--query": self.query,
            "--offsets": json.dumps(self.offsets, sort_keys=True),
            "--time-column": self.result_time,
            "--from": self.start,
            "--until": self.until,
            "--input-from": self.input_start,
            "--input-until": self.input_until,
        }
        found = [word for name, value in given.items() if value for word in (name, value)]
        if self.stream is not None:
            found += ["--max-records", str(self.stream["max_records"])]
            found += ["--rate", str(self.stream["rate"])] if self.stream.get("rate") else []
            found += [word for key in self.stream["keys"] for word in ("--keys", key)]
        return found

    @property
    def how(self) -> str:
        """How it is processed, for the step's description."""
        if self.max_failing is not None:
            most = plural(self.max_failing, "record")
            return f", leaving out at most {most} on which the function fails"
        if self.stream is None:
            return ""
        rate = self.stream.get("rate")
        limit = f", at most {rate} records/s" if rate else ""
        at_most = plural(self.stream["max_records"], "record")
        return f" as a stream (at most {at_most} per batch{limit})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecords(Processing):
    """Process the records and write the results to a new folder next to the target folder."""

    action: ClassVar[str] = "process_records"
    format: str
    folder: str

    @property
    def uses_delta(self) -> bool:
        """Whether the folder is a Delta table."""
        return self.format == "delta"

    def describe(self) -> str:
        count = as_records(self.records)
        return (
            f"process {count} of {', '.join(sorted(self.offsets))} with {self.entry_point}"
            f"{self.how}, and write the results to a new folder next to {self.folder}"
        )

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the results go, and the checkpoint of a stream."""
        staged = {"staged": staged_folder(self.folder, applier.run)}
        return staged | self.stream_folder(self.folder, applier.run)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the program; what an earlier try has written is overwritten."""
        self.work(applier, "--to", f"{self.format}:{was['staged']}", folder=was.get("stream"))
        forget_stream(applier, was)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail unless Spark says that the folder is complete."""
        last = _DELTA_LOG if self.uses_delta else "_SUCCESS"
        if not applier.folders.exists(f"{was['staged']}/{last}"):
            raise StepError(
                f"the results in {was['staged']} are incomplete: {last} is missing. Resume the run"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the results."""
        folders = filter(None, (was["staged"], was.get("stream")))
        return tuple(DeleteResults(folder=folder) for folder in folders)


def forget_stream(applier: Applier, was: PriorState) -> None:
    """Delete a stream's checkpoint once its results are written."""
    if folder := was.get("stream"):
        applier.folders.remove_results(folder)


def failing_counts(facts: Mapping[str, Any]) -> str:
    """Return how many records were left out, as a part of the report's sentence."""
    return f"{plural(facts['failed'], 'failing record')} left out, " if "failed" in facts else ""


def stream_counts(facts: Mapping[str, Any]) -> str:
    """Return what only a stream counts, as a part of the report's sentence."""
    if "dropped" not in facts:
        return ""
    lost = len(facts["uncounted"])
    more = f" (the counts of {plural(lost, 'batch')} were lost in a crash)" if lost else ""
    at = f", watermark {facts['watermark']} at the end" if facts["watermark"] else ""
    return (
        f"{plural(facts['dropped'], 'row')} dropped as late{more}, "
        f"{plural(facts['batches'], 'batch')}{at}, "
    )


def _report(applier: Applier, entry_point: str) -> str:
    name = entry_point.replace(":", "-")
    return f"{applier.folders.snapshot_folder()}/report-{name}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteResults(StepBase):
    """Delete a folder of results that a run has written."""

    action: ClassVar[str] = "delete_results"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    folder: str

    def describe(self) -> str:
        return f"delete the results in {self.folder}"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete it."""
        applier.folders.remove_results(self.folder)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if it is still there."""
        if applier.folders.exists(self.folder):
            raise StepError(
                f"{self.folder} still exists. Check its permissions and those of its "
                "parent folder, then resume the run"
            )
