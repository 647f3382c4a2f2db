"""Let a query do one batch that was cut, and stop it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_command
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.checkpoint.swap import check_query
from headgate.reprocess.steps.process.stop_start import STOPPED_SECONDS, StopPipeline

# How long the first part of a batch may take.
FINISH_SECONDS = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishBatch(StepBase):
    """Start the query, wait until it completes the shortened batch, and stop it."""

    action: ClassVar[str] = "finish_batch"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    batch: int
    start: str
    stop: str
    suspend: str | None = None
    reenable: str | None = None

    def describe(self) -> str:
        return (
            f"start {self.pipeline} with `{self.start}`, wait for batch {self.batch} (it ends "
            f"before the record to skip), and stop {self.pipeline} with `{self.stop}`"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the commands or the query are not the planned ones."""
        check_command(inspector, self.pipeline, "start", self.start)
        check_command(inspector, self.pipeline, "stop", self.stop)
        check_query(inspector, self.checkpoint, self.query_id)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Start it unless it runs or has done the batch, wait, and stop it."""
        if not self._is_done(applier):
            if self.reenable is not None:
                applier.processes.command(self.pipeline, "reenable")
            if applier.processes.status(self.pipeline) is not Status.RUNS:
                applier.processes.command(self.pipeline, "start")
            self._wait(applier)
        stop = self._stop()
        stop.apply(applier, {})
        stop.verify(applier, {})

    def _wait(self, applier: Applier) -> None:
        wait = Wait(applier=applier)
        while not self._is_done(applier):
            wait.look(self.pipeline)
            if wait.ended >= STOPPED_SECONDS:
                raise RefusedError(
                    f"{self.pipeline} ended before it completed batch {self.batch}, which ends "
                    "before the record to skip. The query may fail on another record. See the "
                    "query's log, then run `headgate plan skip-records` for that record, too"
                )
            if wait.seconds >= FINISH_SECONDS:
                raise StepError(
                    f"{self.pipeline} has not completed batch {self.batch} after "
                    f"{wait.seconds:.0f} s: resume the run to wait longer, or undo the run"
                )
            wait.pause()

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if the batch isn't done; the next cut checks what the query did after it."""
        if not self._is_done(applier):
            raise StepError(f"{self.pipeline} has not completed batch {self.batch}: undo the run")
        applier.note(
            f"{self.pipeline} completed batch {self.batch}, which ends before the record to skip"
        )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Make sure that the query is stopped; its output stays in the sink."""
        return (self._stop(),)

    def _is_done(self, applier: Applier) -> bool:
        found = applier.checkpoints.read(self.checkpoint)
        at = found.last_commit_batch if found else None
        return at is not None and at >= self.batch

    def _stop(self) -> StopPipeline:
        return StopPipeline(
            pipeline=self.pipeline,
            command=self.stop,
            start=self.start,
            has_status=True,
            checkpoint=self.checkpoint,
            suspend=self.suspend,
            reenable=self.reenable,
        )
