"""Run a group until it has committed the offsets that exist now, and stop it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from headgate.errors import RunCancelledError, StepError
from headgate.model.cluster import Group, Topic
from headgate.model.kafka_streams import looks_internal
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import ASSIGNED_SECONDS, unassigned
from headgate.reprocess.steps.base.step import (
    PriorState,
    Step,
    check_command,
    check_found_topics,
    check_topics,
    known_log,
)
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.process.stop_start import (
    START_SECONDS,
    STOPPED_SECONDS,
    StopPipeline,
)
from headgate.text.numbers import plural

Part = tuple[str, int]
# How long commits must stand still before the rest of a partition counts as without records:
# transaction markers, records of aborted transactions, what compaction removed.
STILL_SECONDS = 5.0
SHOWN_PARTITIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunToOffsets(StepBase):
    """Start the pipeline, process up to the latest offsets at the start, and stop it.

    `topics` maps a name to its `id` and number of `partitions`. With `drains`, the repartition
    topics that the application owns are drained as well. `offsets` is the preview. `time_limit` is
    in seconds, None for none.
    """

    action: ClassVar[str] = "run_to_offsets"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"offsets"})
    pipeline: str
    group: str
    topics: dict[str, dict[str, Any]]
    start: str
    stop: str
    has_status: bool
    drains: bool = False
    suspend: str | None = None
    reenable: str | None = None
    time_limit: int | None = None
    offsets: tuple[dict[str, Any], ...] = ()

    def describe(self) -> str:
        limit = f" (time limit {self.time_limit} s)" if self.time_limit else ""
        return (
            f"note the latest offsets of {', '.join(sorted(self.topics))}, and run {self.pipeline} "
            f"until group {self.group} has committed them: start with `{self.start}`, stop with "
            f"`{self.stop}`{limit}"
        )

    @property
    def stops(self) -> bool:
        """It ends with the pipeline stopped."""
        return True

    def rebind(self, commands: Commands) -> Self:
        """Keep the commands that were approved: `check` compares them."""
        return self

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where commands or topics are not the planned ones, or the group is at work."""
        check_command(inspector, self.pipeline, "start", self.start)
        check_command(inspector, self.pipeline, "stop", self.stop)
        check_topics(inspector, self.topics)
        if not again:
            check_stopped(inspector, self.pipeline, group=self.group)

    def bind(self, applier: Applier) -> PriorState:
        """Take the latest offsets: the run ends there, whatever is written later."""
        topics = applier.kafka.topics(self.topics)
        check_found_topics(topics, self.topics)
        return {"bounds": _rows(_ends(topics)), "began": time.time()}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Start it unless it runs or is there already, wait, and stop it."""
        run = _Wait(self, applier, _bounds(was))
        try:
            if not run.is_there() or self._undrained(applier):
                began = self._start(applier, was)
                run.wait(began)
                self._drain(applier, began)
        except (RunCancelledError, _NotReadError):
            self._stop_at_once(applier)
            raise
        stop = self._stop()
        stop.apply(applier, {})
        stop.verify(applier, {})

    def _start(self, applier: Applier, was: PriorState) -> float:
        """Start the pipeline; return since when its time counts, as Unix seconds."""
        if applier.processes.status(self.pipeline) is Status.RUNS:
            # A worker died: the pipeline kept running, and so did its time.
            return float(was["began"])
        if applier.kafka.group(self.group).members:
            return float(was["began"])
        if self.reenable is not None:
            applier.processes.command(self.pipeline, "reenable")
        applier.processes.command(self.pipeline, "start")
        return time.time()

    def _drain(self, applier: Applier, began: float) -> None:
        """Wait for repartition topics, once for each: what one holds may go to the next."""
        for _ in self._owned(applier):
            # The application may create a topic, or be assigned one, meanwhile.
            _Wait(self, applier, _ends(applier.kafka.topics(self._owned(applier)))).wait(began)

    def _undrained(self, applier: Applier) -> str:
        """Return how far repartition topics with unread records are read; empty without any."""
        names = self._owned(applier)
        drain = _Wait(self, applier, _ends(applier.kafka.topics(names)) if names else {})
        return "" if drain.is_there() else drain.said()

    def _owned(self, applier: Applier) -> list[str]:
        """Return the repartition topics that the application has read, if it is to drain them."""
        if not self.drains:
            return []
        found = {o.topic for o in applier.kafka.group(self.group).offsets}
        mine = f"{self.group}-"
        return sorted(n for n in found if n.startswith(mine) and looks_internal(n))

    def _stop_at_once(self, applier: Applier) -> None:
        """Stop the pipeline of a run that is cancelled; what can't be asked now is left to undo."""
        try:
            applier.processes.command(self.pipeline, "stop")
        except (StepError, RunCancelledError) as error:
            applier.note(f"{self.pipeline} may still run: {error}")

    def _stop(self) -> StopPipeline:
        return StopPipeline(
            pipeline=self.pipeline,
            command=self.stop,
            start=self.start,
            has_status=self.has_status,
            group=self.group,
            suspend=self.suspend,
            reenable=self.reenable,
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the group has not come to the offsets, or repartition topics hold records.

        What was written to the inputs later may have come to repartition topics before the stop: it
        is not part of the run.
        """
        run = _Wait(self, applier, _bounds(was))
        if not run.is_there():
            raise StepError(
                f"group {self.group} has not reached the offsets that were the latest when the "
                f"run started ({run.said()}). Resume the run"
            )
        undrained = self._undrained(applier)
        if undrained and not run.is_past():
            raise StepError(
                f"group {self.group} has not read its repartition topics to the end "
                f"({undrained}). Resume the run"
            )
        if undrained:
            applier.note(
                f"group {self.group} also read records that arrived after the start of the run. "
                f"{self.pipeline} stopped before the group had read its repartition topics to the "
                f"end ({undrained}). The group reads the remaining records on the next start"
            )
        at = run.said()
        applier.note(
            f"group {self.group} has processed all records that existed at the start of the run: "
            f"{at}"
            if at
            else f"the topics had no records when the run started, so group {self.group} had none "
            "to process"
        )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Stop the pipeline; an earlier step's undo restores the offsets."""
        return (self._stop(),)


class _NotReadError(StepError):
    """The running pipeline doesn't read a partition that it is to read."""


class _Wait:
    """One wait of a group for offsets; what has no records to read counts as read."""

    def __init__(self, step: RunToOffsets, applier: Applier, bounds: Mapping[Part, int]) -> None:
        self._step = step
        self._applier = applier
        self._bounds = bounds
        self._first: dict[Part, int] = {}
        self._at: dict[Part, int] = {}
        self._group: Group | None = None
        self._idle_since: float | None = None
        self._empty: dict[Part, int] = {}

    def is_there(self) -> bool:
        """Whether every partition is read as far as its bound; asks Kafka each time."""
        self._look()
        left = self._left()
        return not left or self._has_no_records(left)

    def is_past(self) -> bool:
        """Whether a partition was read past its bound, when `is_there` last looked."""
        return any(self._at.get(part, 0) > end for part, end in self._bounds.items())

    def wait(self, began: float) -> None:
        """Wait; RunCancelledError once the time limit is over, StepError if the pipeline ended."""
        wait, still, seen = Wait(applier=self._applier), 0.0, False
        before: object = None
        while left := self._left_now():
            # In the group's first seconds a status may not show yet that it runs.
            has_ended, seen = self._has_ended(seen)
            wait.saw(has_ended=has_ended)
            if wait.ended >= (STOPPED_SECONDS if seen else START_SECONDS):
                raise StepError(
                    f"{self._step.pipeline} ended before group {self._step.group} reached the "
                    f"latest offsets ({self.said()}). See the log of {self._step.pipeline}, "
                    "correct the cause, then resume the run"
                )
            self._check_time(began)
            self._check_read(left, wait.seconds)
            still = still + wait.poll if before == self._at else 0.0
            before = dict(self._at)
            if still >= STILL_SECONDS:
                self._has_no_records(left)
                still = 0.0
            wait.pause()

    def _left_now(self) -> list[Part]:
        self._look()
        self._tell()
        return self._left()

    def _look(self) -> None:
        self._group = self._applier.kafka.group(self._step.group)
        found = self._group.offsets
        self._at = {(o.topic, o.partition): o.offset for o in found if o.offset is not None}
        if not self._first:
            self._first = dict(self._at)

    def _left(self) -> list[Part]:
        return [p for p, end in self._bounds.items() if self._position(p) < end]

    def _position(self, part: Part) -> int:
        return max(self._at.get(part, 0), self._empty.get(part, 0))

    def _has_no_records(self, left: Iterable[Part]) -> bool:
        """Whether Kafka has no committed record between commit and bound."""
        parts = list(left)
        begins = _begins(self._applier.kafka.topics({topic for topic, _ in parts}))
        # What retention has deleted can't be asked for: Kafka answers with an error.
        ranges = {p: (max(self._at.get(p, 0), begins.get(p, 0)), self._bounds[p]) for p in parts}
        found = self._applier.kafka.first_records(ranges)
        self._empty |= {p: self._bounds[p] for p in ranges if found.get(p) is None}
        return not self._left()

    def _has_ended(self, seen: bool) -> tuple[bool, bool]:
        status = self._applier.processes.status(self._step.pipeline)
        if status is Status.UNKNOWN:
            has_members = bool(self._applier.kafka.group(self._step.group).members)
            return not has_members, seen or has_members
        return status is Status.STOPPED, seen or status is Status.RUNS

    def _check_read(self, left: Iterable[Part], seconds: float) -> None:
        """Fail where the members read other partitions, but not these: this would never end."""
        idle = unassigned(self._group, left) if self._group else []
        if not idle:
            self._idle_since = None
            return
        self._idle_since = seconds if self._idle_since is None else self._idle_since
        if seconds - self._idle_since >= ASSIGNED_SECONDS:
            raise _NotReadError(
                f"no member of group {self._step.group} reads these partitions: "
                f"{'; '.join(map(self._shown, idle))}. "
                f"If {self._step.pipeline} no longer reads these topics, set `topics` in "
                "headgate.toml to those that it reads, or delete the group's offsets of the others "
                "with `kafka-consumer-groups --delete-offsets`. Then run `headgate plan` again"
            )

    def _check_time(self, began: float) -> None:
        limit = self._step.time_limit
        if limit is not None and time.time() - began >= limit:
            raise RunCancelledError(
                f"the time limit of {limit} s was reached ({self.said()}). To continue, run "
                f"`headgate resume {self._applier.run}`"
            )

    def _tell(self) -> None:
        counts = {p: self._count(p) for p in self._bounds}
        done, total = (sum(c[n] for c in counts.values()) for n in (0, 1))
        self._applier.progress(done, total, "records")
        if len(counts) <= SHOWN_PARTITIONS:
            for (topic, number), (read, of) in counts.items():
                if of:
                    self._applier.progress(read, of, f"records of {topic}[{number}]")

    def _count(self, part: Part) -> tuple[int, int]:
        """Return offsets read so far, and offsets to read, of a partition."""
        first, end = self._first.get(part, 0), self._bounds[part]
        return min(max(self._position(part) - first, 0), max(end - first, 0)), max(end - first, 0)

    def said(self) -> str:
        """Return where the first partitions are, and where they are to be."""
        parts = sorted(self._bounds)
        shown = "; ".join(map(self._shown, parts[:SHOWN_PARTITIONS]))
        more = len(parts) - SHOWN_PARTITIONS
        return shown + (f"; and {plural(more, 'more partition')}" if more > 0 else "")

    def _shown(self, part: Part) -> str:
        """Return the committed offset of a partition and the offset at which the run ends."""
        at, end = self._at.get(part), self._bounds[part]
        reached = "with no committed offset" if at is None else f"at committed offset {at}"
        return f"{part[0]}[{part[1]}] {reached}, end offset {end}"


def _ends(topics: Mapping[str, Topic]) -> dict[Part, int]:
    """Return the latest offset of every partition that holds anything."""
    logs = {(t.name, p.number): known_log(t.name, p) for t in topics.values() for p in t.partitions}
    return {part: end for part, (begin, end) in logs.items() if end > begin}


def _begins(topics: Mapping[str, Topic]) -> dict[Part, int]:
    return {(t.name, p.number): p.begin or 0 for t in topics.values() for p in t.partitions}


def _rows(bounds: Mapping[Part, int]) -> list[list[Any]]:
    return [[topic, number, end] for (topic, number), end in sorted(bounds.items())]


def _bounds(was: PriorState) -> dict[Part, int]:
    return {(topic, number): end for topic, number, end in was["bounds"]}
