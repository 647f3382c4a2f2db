"""Run the new version on the copied checkpoint, up to a batch of the running version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.spark_jobs import JobOutcome, SparkJob
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.verify_stopped import prove_stopped
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.checkpoint.swap import check_query
from headgate.reprocess.steps.upgrade.stage_checkpoint import (
    STAGED,
    batch_ends,
    between_batches,
    is_past,
    newest_ends,
    read_record,
    write_record,
)
from headgate.text.numbers import plural

PROGRAM = "run_beside"
# How long results of the running version are waited for, beyond the time that was asked for.
OUTPUT_SECONDS = 600.0
COMPARE, CATCH_UP, SWITCH = "compare", "catch_up", "switch"
# How often the new version may try to catch up.
_ROUNDS = 5
_WHAT = {
    COMPARE: "up to a batch that the running version ends after {seconds} s",
    CATCH_UP: "until at most {max_lag} batches are left",
    SWITCH: "up to the last batch of the stopped version",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBeside(StepBase):
    """Process the running version's batches with the new version; write to the shadow topic.

    `goal` is `compare`, `catch_up` or `switch`. Before `compare`, the running version gets
    `seconds` to write results. `max_lag` is in batches, for `catch_up`.
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
        return f"run {self.entry_point} on the copy {until}, with results to {self.topic}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the checkpoint is another query's, or runs although it was stopped."""
        check_query(inspector, self.checkpoint, self.query_id)
        if self.goal == SWITCH:
            prove_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)

    def bind(self, applier: Applier) -> PriorState:
        """Name the copy."""
        return {"copy": beside(self.checkpoint, STAGED, applier.run)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Decide the last batch once, then run the program up to it."""
        if self.goal == CATCH_UP:
            self._catch_up(applier, was)
            return
        self._run_to(
            applier, was, read_record(applier, self._record) or self._decided(applier, was)
        )

    def _catch_up(self, applier: Applier, was: PriorState) -> None:
        """Run to the newest batch, again and again, until few are left."""
        for _ in range(_ROUNDS):
            ends = batch_ends(applier.checkpoints.batches(self.checkpoint))
            copy = applier.checkpoints.read(was["copy"])
            lag = sum(1 for end in ends if copy is None or is_past(end, copy.offsets))
            applier.note(f"batches that {self.entry_point} has not processed: {lag}")
            if lag <= self.max_lag:
                return
            self._run_to(applier, was, self._decided(applier, was))
        raise RefusedError(
            f"{self.entry_point} doesn't catch up: more than {self.max_lag} batches are left "
            f"after {_ROUNDS} runs. Give it more resources under [spark], or plan again with a "
            "larger --max-lag"
        )

    def _run_to(self, applier: Applier, was: PriorState, goal: dict[str, Any]) -> None:
        found = applier.checkpoints.read(was["copy"])
        if found is None:
            raise StepError(
                f"the copy {was['copy']} no longer exists. Run `headgate undo {applier.run}`, then "
                "`headgate plan` again"
            )
        left = [end for end in goal["ends"] if is_past(end, found.offsets)]
        if left or found.last_offset_batch != found.last_commit_batch:
            self._run(applier, was["copy"], left or goal["ends"][-1:])

    def _decided(self, applier: Applier, was: PriorState) -> dict[str, Any]:
        """Choose the last batch, and keep where each batch up to it ends."""
        output = None
        if self.goal == COMPARE:
            output = self._after_results(applier)
        elif self.goal == SWITCH:
            self._tell_uncommitted(applier)
        ends = batch_ends(applier.checkpoints.batches(self.checkpoint))
        if output is not None:
            last = output[0]
            kept = [b for b in applier.checkpoints.batches(self.checkpoint) if b.number <= last]
            ends = batch_ends(kept)
        at = newest_ends(applier, was["copy"])
        reached = {t: {int(p): o for p, o in parts.items()} for t, parts in at.items()}
        found: dict[str, Any] = {"ends": [e for e in ends if is_past(e, reached)] or [ends[-1]]}
        if output is not None:
            found |= {"batch": output[0], "output": output[1]}
        write_record(applier, self._record, found)
        return found

    def _after_results(self, applier: Applier) -> tuple[int, dict[str, int]]:
        """Wait until the running version has written results since the copy."""
        staged = read_record(applier, STAGED) or {}
        wait = Wait(applier=applier, poll=1.0)
        applier.note(f"waiting {self.seconds} s for results of {self.pipeline}")
        while wait.seconds < self.seconds:
            wait.pause()
        while True:
            batch, ends = between_batches(applier, self.checkpoint, self.sink_topic)
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

    def _run(self, applier: Applier, copy: str, ends: list[Any]) -> None:
        name = f"ends-{self.goal}"
        write_record(applier, name, ends)
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
                f"{self.entry_point} failed on the copy: {result.error.rstrip('.')}. Correct it, "
                "then run `headgate plan` again"
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
        """Fail unless the copy ends, committed, where the running version's batch ends."""
        if self.goal == CATCH_UP:
            return
        goal = read_record(applier, self._record)
        found = applier.checkpoints.read(was["copy"])
        if goal is None or found is None or found.last_offset_batch != found.last_commit_batch:
            raise StepError(f"the copy {was['copy']} has an uncommitted batch. Resume the run")
        at = newest_ends(applier, was["copy"])
        if at != goal["ends"][-1]:
            raise StepError(
                f"the copy {was['copy']} ends at {at}, not at {goal['ends'][-1]}. Run `headgate "
                f"undo {applier.run}`, then `headgate plan` again"
            )

    @property
    def _record(self) -> str:
        return f"beside-{self.goal}"
