"""Compare what two versions of a group wrote for the same records, and wait for equal lag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError
from headgate.model.output_comparison import OutputComparison
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicWindow
from headgate.reprocess.steps.base.comparison import keep_comparison
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, check_topics
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.upgrade.compare_outputs import changed_fields, consumers_of
from headgate.reprocess.steps.upgrade.group_positions import (
    READ_SECONDS,
    Part,
    Version,
    latest,
    positions,
    wait_until_read,
)
from headgate.text.numbers import name_list, plural

_POLL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareVersions(StepBase):
    """Let both versions run for --compare-for, then compare their results for the same records.

    `pipeline` and `group` are the old version's, `new` and `new_group` the new version's.
    `topics` are the inputs. `drains` says that both are Kafka Streams applications.

    The versions are never at the same offset. So what one wrote in a time must be among what the
    other wrote in a longer time around it, once that has read the same records; and the reverse.
    `newest`: the output topic is compacted, so only the newest result of a key counts.
    """

    action: ClassVar[str] = "compare_versions"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    new: str
    new_group: str
    topics: dict[str, dict[str, Any]]
    sink_topic: str
    topic: str
    keys: tuple[str, ...]
    tolerance: float = 0.0
    ignore: tuple[str, ...] = ()
    must_match: bool = True
    seconds: int = 0
    drains: bool = False
    newest: bool = False

    def describe(self) -> str:
        what = "newest results of each key" if self.newest else "results"
        return (
            f"run both versions for {self.seconds} s, then compare the {what} in topics "
            f"{self.sink_topic} and {self.topic} by key ({name_list(self.keys)})"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where an input is another topic."""
        check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Note where the old version's results begin that the new version must have as well.

        The inputs are read last: results of records after them come after the noted offsets.
        """
        output = latest(applier, [self.sink_topic])
        inputs = latest(applier, self.topics)
        return {"output": _rows(output), "inputs": _rows(inputs)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Wait, compare, keep the result with the run, and end the run if it differs."""
        old, new = self._versions
        begin, inputs = _parts(was["output"]), _parts(was["inputs"])
        applier.note(f"waiting until {self.new} has processed all records that the inputs now have")
        wait_until_read(applier, new, inputs)
        inner_begin = latest(applier, [self.topic])
        applier.note(f"waiting for {self.seconds} s, while both versions write results")
        wait = Wait(applier=applier, poll=_POLL)
        while wait.seconds < self.seconds:
            wait.pause()
        ends = latest(applier, [self.sink_topic]), latest(applier, [self.topic])
        inputs = latest(applier, self.topics)
        wait_until_read(applier, new, inputs)
        wait_until_read(applier, old, inputs)
        outer = latest(applier, [self.sink_topic]), latest(applier, [self.topic])
        found = applier.kafka.compare_records(
            TopicWindow(self.sink_topic, _ranges(begin, ends[0]), _ranges(begin, outer[0])),
            TopicWindow(self.topic, _ranges(inner_begin, ends[1]), _ranges({}, outer[1])),
            keys=self.keys,
            tolerance=self.tolerance,
            ignore=self.ignore,
            newest=self.newest,
        )
        self._judge(applier, found)

    @property
    def _versions(self) -> tuple[Version, Version]:
        return (
            Version(self.pipeline, self.group, self.drains),
            Version(self.new, self.new_group, self.drains),
        )

    def _judge(self, applier: Applier, found: OutputComparison) -> None:
        said, file = keep_comparison(applier, found)
        self._check_fields(applier, found)
        if not self.must_match:
            return
        if not found.rows_a:
            raise RefusedError(
                f"{self.pipeline} wrote no results while both versions ran, so nothing was "
                "compared. Plan again with a longer --compare-for, or with --allow-differences"
            )
        if not found.equal:
            order = (
                " Two equal applications can differ, too: each reads the partitions in its own "
                "order, so sums or last values can differ in between."
            )
            if self.newest:
                order = ""
            raise RefusedError(
                f"the results differ: {said}. See {file}.{order if self.drains else ''} Correct "
                "the new version, or plan again with --allow-differences"
            )

    def _check_fields(self, applier: Applier, found: OutputComparison) -> None:
        wrong = list(changed_fields(found)) if found.rows_a and found.rows_b else []
        if not wrong:
            return
        consumers = consumers_of(applier, self.sink_topic, self.pipeline)
        if consumers:
            raise RefusedError(
                f"the output schema isn't compatible: {'; '.join(wrong)}. Consumers of "
                f"{self.sink_topic}: {name_list(consumers)}. Keep these fields, or write to a new "
                "topic"
            )
        applier.note(
            f"the output schema changes: {'; '.join(wrong)}. Topic {self.sink_topic} has no known "
            "consumers, so the run continues"
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The comparison itself is the check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitEqualLag(StepBase):
    """Wait until the new version's lag is at most --max-lag records above the old version's lag."""

    action: ClassVar[str] = "await_equal_lag"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    new: str
    new_group: str
    topics: dict[str, dict[str, Any]]
    max_lag: int

    def describe(self) -> str:
        return (
            f"wait until {self.new} is at most {plural(self.max_lag, 'record')} behind "
            f"{self.pipeline}"
        )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Check both groups until the difference is small enough."""
        wait = Wait(applier=applier, poll=_POLL)
        while (left := self._left(applier)) > self.max_lag:
            if wait.seconds >= READ_SECONDS:
                raise RefusedError(
                    f"{self.new} doesn't catch up: after {READ_SECONDS:.0f} s, it is still "
                    f"{plural(left, 'record')} behind {self.pipeline}. Give {self.new} more "
                    "resources, or plan again with a larger --max-lag"
                )
            wait.pause()
        lags = [self._lag(applier, group) for group in (self.group, self.new_group)]
        applier.note(f"consumer lag in records: {self.pipeline} {lags[0]}, {self.new} {lags[1]}")

    def _left(self, applier: Applier) -> int:
        old = positions(applier, self.group, self.topics)
        new = positions(applier, self.new_group, self.topics)
        return sum(max(at - new.get(part, 0), 0) for part, at in old.items())

    def _lag(self, applier: Applier, group: str) -> int:
        at = positions(applier, group, self.topics)
        ends = latest(applier, self.topics)
        return sum(max(end - at.get(part, end), 0) for part, end in ends.items())

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The waiting was the check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitOldVersion(StepBase):
    """Wait until the old application has processed what the stopped new application has processed.

    Results that the new version wrote only to the shadow topic are then in the output topic.
    """

    action: ClassVar[str] = "await_old_version"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    new: str
    new_group: str
    topics: dict[str, dict[str, Any]]

    def describe(self) -> str:
        return f"wait until {self.pipeline} has processed the records that {self.new} has processed"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Wait, also for what is in repartition topics."""
        ends = positions(applier, self.new_group, self.topics)
        wait_until_read(applier, Version(self.pipeline, self.group, drains=True), ends)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: the waiting was the check; `switch_offsets` checks the offsets again."""


def _rows(parts: Mapping[Part, int]) -> list[list[Any]]:
    return [[topic, partition, offset] for (topic, partition), offset in sorted(parts.items())]


def _parts(rows: list[list[Any]]) -> dict[Part, int]:
    return {(topic, partition): offset for topic, partition, offset in rows}


def _ranges(begin: Mapping[Part, int], end: Mapping[Part, int]) -> dict[Part, tuple[int, int]]:
    return {part: (begin.get(part, 0), to) for part, to in end.items()}
