"""Run the new version on the copied checkpoint, up to a batch of the running version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.restore_points import LoggedBatch
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.spark_jobs import JobOutcome, SparkJob
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.base.wait import Wait, ask_and_wait
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.checkpoint.swap import check_query
from headgate.reprocess.steps.upgrade.confirm_switch import CONFIRM, switch_request
from headgate.reprocess.steps.upgrade.stage_checkpoint import (
    STAGED,
    batch_ends,
    batch_facts,
    between_batches,
    differs,
    newest_ends,
    read_record,
    write_record,
)
from headgate.text.engine_times import iso
from headgate.text.numbers import plural

PROGRAM = "run_beside"
# How long results of the running version are waited for, beyond the time that was asked for.
OUTPUT_SECONDS = 600.0
COMPARE, CATCH_UP, SWITCH = "compare", "catch_up", "switch"
# How often the new version may try to catch up.
_ROUNDS = 5
# How often the batches of the running version are written down while it is waited for.
_LOOK_SECONDS = 5
_WHAT = {
    COMPARE: "up to the batch that the running version reaches after {seconds} s",
    CONFIRM: "until somebody confirms the switch",
    CATCH_UP: "until the number of batches left to process is at most {max_lag}",
    SWITCH: "up to the last batch of the stopped version",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBeside(StepBase):
    """Process the running version's batches with the new version; write to the shadow topic.

    `goal` is `compare`, `confirm`, `catch_up` or `switch`. Before `compare`, the running version
    gets `seconds` to write results. `max_lag` is in batches, for `confirm` and `catch_up`.
    """

    action: ClassVar[str] = "run_beside"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    entry_point: str
    topic: str
    sink_topic: str
    goal: str
    query: str | None = None
    seconds: int = 0
    max_lag: int = 0

    def describe(self) -> str:
        until = _WHAT[self.goal].format(seconds=self.seconds, max_lag=self.max_lag)
        return (
            f"run {self.entry_point} on the checkpoint copy {until}, and write the results to "
            f"{self.topic}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the checkpoint is another query's, or runs although it was stopped."""
        check_query(inspector, self.checkpoint, self.query_id)
        if self.goal == SWITCH:
            check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)

    def bind(self, applier: Applier) -> PriorState:
        """Name the copy."""
        return {"copy": beside(self.checkpoint, STAGED, applier.run)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Decide the last batch, then run the program up to it.

        A resume keeps the decision, unless the running version was started again since.
        """
        if self.goal == CATCH_UP:
            self._catch_up(applier, was)
            return
        if self.goal == CONFIRM:
            self._follow_until_confirmed(applier, was)
            return
        goal = read_record(applier, self._record)
        if goal is None or (self.goal == SWITCH and differs(applier, self.checkpoint, goal)):
            goal = self._decided(applier, was)
        self._run_to(applier, was, goal)

    def _catch_up(self, applier: Applier, was: PriorState) -> None:
        """Run to the newest batch, again and again, until few are left."""
        for _ in range(_ROUNDS):
            goal = self._decided(applier, was)
            lag = len(goal["ends"]) - 1
            applier.note(f"batches that {self.entry_point} has not processed: {lag}")
            if lag <= self.max_lag:
                return
            self._run_to(applier, was, goal)
        raise RefusedError(
            f"{self.entry_point} doesn't catch up: after {_ROUNDS} runs, the number of batches "
            f"left to process is still above {self.max_lag}. Give the new version more resources "
            "under [spark] in headgate.toml, or plan again with a larger --max-lag"
        )

    def _follow_until_confirmed(self, applier: Applier, was: PriorState) -> None:
        """Ask for the switch, and meanwhile repeat the batches of the running version.

        Spark removes old batches from the logs. A version that waits for hours without
        processing could no longer repeat them, and a failure of it would show only at the switch.
        Files are written only for a start of the new version: a resume finds in the copy how far
        it came, and in the logs what is left.
        """
        seen: dict[int, LoggedBatch] = {}
        calls = count()

        def follow() -> None:
            if next(calls) % _LOOK_SECONDS:
                return
            self._look(applier, seen)
            goal = self._goal(applier, was, seen)
            if len(goal["ends"]) - 1 > self.max_lag:
                self._run_to(applier, was, goal)
                seen.clear()

        request = switch_request(self.entry_point, self.pipeline, self.topic)
        ask_and_wait(applier, CONFIRM, request, follow)

    def _run_to(self, applier: Applier, was: PriorState, goal: dict[str, Any]) -> None:
        if self._copy(applier, was).head != (goal["batch"], goal["batch"]):
            self._run(applier, was["copy"], {name: goal[name] for name in ("first", "ends")})

    def _copy(self, applier: Applier, was: PriorState) -> Checkpoint:
        found = applier.checkpoints.read(was["copy"])
        if found is None or found.last_offset_batch is None:
            raise StepError(
                f"the copy {was['copy']} no longer exists. Run `headgate undo {applier.run}`, then "
                "`headgate plan` again"
            )
        return found

    def _decided(self, applier: Applier, was: PriorState) -> dict[str, Any]:
        """Choose the last batch, and keep where each batch up to it ends."""
        seen: dict[int, LoggedBatch] = {}
        output: dict[str, Any] = {}
        if self.goal == COMPARE:
            last, output["output"] = self._after_results(applier, seen)
            seen = {n: b for n, b in seen.items() if n <= last}
        else:
            if self.goal == SWITCH:
                self._tell_uncommitted(applier)
            self._look(applier, seen)
        found = self._goal(applier, was, seen) | output
        write_record(applier, self._record, found)
        return found

    def _goal(
        self, applier: Applier, was: PriorState, seen: Mapping[int, LoggedBatch]
    ) -> dict[str, Any]:
        """Return the last batch that was seen, and where each batch up to it ends.

        `ends` begins with the last batch of the copy, whose number is `first`: batches of the copy
        have the numbers of the running version's.
        """
        copy = self._copy(applier, was)
        first = copy.last_offset_batch or 0
        here = {t: {str(p): o for p, o in parts.items()} for t, parts in copy.offsets.items()}
        ends = dict(zip(seen, batch_ends(list(seen.values())), strict=True))
        later = [end for number, end in ends.items() if number > first]
        self._check_kept(list(seen), first)
        return {**batch_facts(list(seen.values())), "first": first, "ends": [here, *later]}

    def _check_kept(self, numbers: list[int], first: int) -> None:
        """Refuse unless every batch after `first` is known."""
        if not numbers or numbers[-1] < first:
            raise RefusedError(
                f"conflict: {self.pipeline} was reset or rewound after its checkpoint was "
                f"copied: batch {first} no longer exists. Run `headgate plan` again"
            )
        missing = set(range(first + 1, numbers[-1] + 1)) - set(numbers)
        if missing:
            raise RefusedError(
                f"batch {min(missing)} is no longer in the logs of checkpoint {self.checkpoint}, "
                "so the new version can't repeat this batch. In the running query, raise "
                "spark.sql.streaming.minBatchesToRetain or the trigger interval. Then run "
                "`headgate plan` again"
            )

    def _look(self, applier: Applier, seen: dict[int, LoggedBatch]) -> None:
        """Add the batches that are logged now; Spark removes old ones."""
        found = applier.checkpoints.batches(self.checkpoint)
        seen |= {batch.number: batch for batch in found}

    def _after_results(
        self, applier: Applier, seen: dict[int, LoggedBatch]
    ) -> tuple[int, dict[str, int]]:
        """Wait until the running version has written results since the copy.

        The batches that are logged meanwhile are added to `seen`.
        """
        staged = read_record(applier, STAGED) or {}
        wait = Wait(applier=applier, poll=1.0)
        applier.note(f"waiting for {self.seconds} s, while {self.pipeline} writes results")
        self._look(applier, seen)
        while wait.seconds < self.seconds:
            wait.pause()
            if wait.seconds % _LOOK_SECONDS == 0:
                self._look(applier, seen)
        while True:
            batch, ends = between_batches(applier, self.checkpoint, self.sink_topic)
            self._look(applier, seen)
            if ends != staged.get("output") or wait.seconds >= self.seconds + OUTPUT_SECONDS:
                return batch, ends
            wait.pause()

    def _tell_uncommitted(self, applier: Applier) -> None:
        found = applier.checkpoints.read(self.checkpoint)
        if found is None or found.last_offset_batch == found.last_commit_batch:
            return
        done = newest_ends(applier, self.checkpoint)
        count = sum(
            offset - done.get(topic, {}).get(str(part), 0)
            for topic, parts in found.offsets.items()
            for part, offset in parts.items()
        )
        applier.note(
            f"the stop interrupted batch {found.last_offset_batch}. Results of up to "
            f"{plural(count, 'record')} may be in {self.sink_topic} twice"
        )

    def _run(self, applier: Applier, copy: str, batches: dict[str, Any]) -> None:
        name = f"ends-{self.goal}"
        write_record(applier, name, batches)
        job = SparkJob(
            program=PROGRAM,
            arguments=tuple(self._arguments(applier, copy, name)),
            what=f"the run of {self.entry_point} beside {self.pipeline}",
        )
        result = applier.spark_jobs.run(job)
        if result.outcome is JobOutcome.FAILED:
            # Kafka may have been away: if it still is, this raises, and the run can be resumed.
            applier.kafka.topics([self.topic])
            applier.note(f"{self.entry_point} failed, and Headgate restarts it: {result.error}")
            result = applier.spark_jobs.run(job)
        if result.outcome is not JobOutcome.DONE:
            raise RefusedError(
                f"{self.entry_point} failed on the checkpoint copy: {result.error.rstrip('.')}. "
                "Correct the cause, then run `headgate plan` again"
            )
        facts = result.facts
        applier.note(
            f"{self.entry_point} has read {plural(facts['records'], 'record')} in "
            f"{facts['seconds']:.0f} s (batches: {facts['batches']})"
        )

    def _arguments(self, applier: Applier, copy: str, name: str) -> list[str]:
        given = {
            "entry-point": self.entry_point,
            "query": self.query,
            "checkpoint": copy,
            "query-id": self.query_id,
            "ends": f"{applier.folders.snapshot_folder()}/{name}.json",
            "topic": self.topic,
            "sink-topic": self.sink_topic,
        }
        return [f"--{key}={value}" for key, value in given.items() if value is not None]

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail unless the copy ends, committed, with the running version's batch.

        Both watermarks must be equal: a window that only one of them has closed is lost at the
        switch, or written twice.
        """
        if self.goal in (CONFIRM, CATCH_UP):
            return
        goal = read_record(applier, self._record)
        found = self._copy(applier, was)
        if goal is None or found.last_offset_batch != found.last_commit_batch:
            raise StepError(f"the copy {was['copy']} has an uncommitted batch. Resume the run")
        now = batch_facts(applier.checkpoints.batches(was["copy"]))
        if any(now[name] != goal[name] for name in ("batch", "end")):
            raise RefusedError(
                f"{self.entry_point} stopped at batch {now['batch']} ({_offsets(now['end'])}), but "
                f"the running version is at batch {goal['batch']} ({_offsets(goal['end'])}). Both "
                "must stop at the same offsets. Use `headgate plan offline-upgrade`"
            )
        # The newest first: a log may begin with its last batch.
        both = zip(now["watermarks"], goal["watermarks"], strict=False)
        for own, other in both:
            if own != other:
                raise RefusedError(
                    f"the watermark of {self.entry_point} is {_time(own)}, but the running "
                    f"version's watermark is {_time(other)}. A switch would lose results or write "
                    "duplicates. In the new version, keep the column and delay of withWatermark, "
                    "or use `headgate plan offline-upgrade`"
                )

    @property
    def _record(self) -> str:
        return f"beside-{self.goal}"


def _time(watermark: int) -> str:
    """Return a watermark in milliseconds as a time; Spark's first one is 0."""
    return iso(watermark) or f"{watermark} ms" if watermark else "not set"


def _offsets(ends: Mapping[str, Mapping[str, int]]) -> str:
    return ", ".join(
        f"{t}[{p}] offset {at}" for t, parts in ends.items() for p, at in parts.items()
    )
