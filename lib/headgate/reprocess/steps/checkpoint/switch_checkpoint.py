"""Switch a query to a new checkpoint location, and back; the old checkpoint never changes.

For remote file systems, where nothing can be moved to backup in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, RunCancelledError, StepError
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.create_remote import check_free
from headgate.reprocess.steps.checkpoint.swap import OUTPUT_STAYS, check_query
from headgate.reprocess.steps.process.stop_start import StartPipeline, stop_with


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCheckpoint(StepBase):
    """Switch the pipeline to the new checkpoint location; its commands now get this location.

    `made` says that a checkpoint was made there; if not, it is empty, and the query starts fresh.
    """

    action: ClassVar[str] = "switch_checkpoint"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    place: str
    made: bool = False

    def describe(self) -> str:
        what = "" if self.made else " (empty)"
        return (
            f"switch the checkpoint of {self.pipeline}: {self.checkpoint} -> {self.place}{what}. "
            "The pipeline's commands get the new location as HEADGATE_CHECKPOINT. The old "
            "checkpoint doesn't change"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs (again), or another one's checkpoint is there."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        check_query(inspector, self.checkpoint, self.query_id)
        if not again and not self.made:
            check_free(inspector, self.place)

    def bind(self, applier: Applier) -> PriorState:
        """Take the hash of the listing by which an undo recognizes the old checkpoint."""
        return {"hash": applier.remote_checkpoints.listing_hash(self.checkpoint)}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is there by now."""
        return _place_of(applier, self.pipeline) == self.place

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Record it."""
        applier.remote_checkpoints.switch(self.pipeline, self.place)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if the registry doesn't have it, or the old checkpoint has changed."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"{self.pipeline} was not switched to checkpoint {self.place}. Resume the run to "
                "try again"
            )
        if applier.remote_checkpoints.listing_hash(self.checkpoint) != was["hash"]:
            raise RefusedError(
                f"checkpoint {self.checkpoint} changed during the switch: another process still "
                "writes to the checkpoint. Stop that process, then run `headgate plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Switch the pipeline back to the old location."""
        back = SwitchToOldCheckpoint(
            pipeline=self.pipeline,
            checkpoint=self.checkpoint,
            place=self.place,
            hash=str(was["hash"]),
        )
        return (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchToOldCheckpoint(StepBase):
    """Switch the pipeline back to the old checkpoint location, which is unchanged."""

    action: ClassVar[str] = "switch_to_old_checkpoint"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = False
    pipeline: str
    checkpoint: str
    place: str
    hash: str

    def describe(self) -> str:
        return f"switch the checkpoint of {self.pipeline} back to {self.checkpoint}"

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The old checkpoint must be as the run left it."""
        return {"place": {"location": self.checkpoint, "listing": self.hash}}

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Refuse if the pipeline was switched elsewhere, or the old checkpoint has changed."""
        if _place_of(inspector, self.pipeline) not in (self.place, self.checkpoint):
            return (
                (
                    f"{self.pipeline} no longer uses checkpoint {self.place}, so Headgate can't "
                    f"undo the switch. Set `checkpoint` of {self.pipeline} in headgate.toml to the "
                    "checkpoint to use"
                ),
            )
        now = inspector.remote_checkpoints.listing_hash(self.checkpoint)
        if now is None:
            return (
                f"the old checkpoint {self.checkpoint} was not found, so Headgate can't undo the "
                f"switch. Restore it from your own backup, or set `checkpoint` of {self.pipeline} "
                "in headgate.toml to the checkpoint to use",
            )
        if now != self.hash:
            return (
                (
                    f"the old checkpoint {self.checkpoint} has changed since the run, so Headgate "
                    f"can't undo the switch. Set `checkpoint` of {self.pipeline} in headgate.toml "
                    "to the checkpoint to use"
                ),
            )
        return ()

    def stop_first(self, commands: Commands) -> tuple[Step, ...] | None:
        """Stop the query, which uses the new location."""
        return (stop_with(commands, self.pipeline, checkpoint=self.place),)

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what is not rolled back."""
        return (
            OUTPUT_STAYS,
            (
                f"Headgate keeps the new checkpoint {self.place}, and deletes it with the "
                "snapshots of the run (`keep_snapshots` under [runs] in headgate.toml)"
            ),
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs."""
        check_stopped(inspector, self.pipeline, checkpoint=self.place)

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is there again."""
        return _place_of(applier, self.pipeline) == self.checkpoint

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Record it."""
        applier.remote_checkpoints.switch(self.pipeline, self.checkpoint)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the registry does not have it."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"{self.pipeline} was not switched back to checkpoint {self.checkpoint}. Resume "
                "the run to try again"
            )
        if applier.remote_checkpoints.listing_hash(self.checkpoint) == self.hash:
            applier.note(
                f"the old checkpoint {self.checkpoint} is unchanged (all objects compared)"
            )
        else:
            applier.note(
                f"the old checkpoint {self.checkpoint} changed after the run, probably because a "
                "query ran on it. Its offsets and state may not be those from before the run"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartAtCheckpoint(StartPipeline):
    """Start the pipeline, and verify that it uses the new checkpoint, not the old checkpoint.

    `old` is the old location; a command that doesn't pass HEADGATE_CHECKPOINT continues there.
    """

    action: ClassVar[str] = "start_at_checkpoint"
    old: str

    def describe(self) -> str:
        return f"{StartPipeline.describe(self)} on checkpoint {self.checkpoint}"

    def bind(self, applier: Applier) -> PriorState:
        """Remember both logs' newest batches."""
        old = applier.checkpoints.read(self.old)
        return {**StartPipeline.bind(self, applier), "old": _head_of(old)}

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse if it doesn't run, or runs at the old location: then the run is rolled back."""
        try:
            StartPipeline.verify(self, applier, was)
        except RunCancelledError:
            raise
        except StepError as error:
            raise RefusedError(
                f"{error}. Also check that the start command passes ${{HEADGATE_CHECKPOINT}} "
                f"({self.checkpoint}) as checkpointLocation. Then run `headgate plan` again"
            ) from None
        self._check_old(applier, was)

    def _is_up(self, applier: Applier, was: PriorState, status: Status) -> bool:
        self._check_old(applier, was)
        return StartPipeline._is_up(self, applier, was, status)

    def _check_old(self, applier: Applier, was: PriorState) -> None:
        now = _head_of(applier.checkpoints.read(self.old))
        if now != was["old"]:
            at = "" if now[-1] is None else f", at batch {now[-1]}"
            raise RefusedError(
                f"{self.pipeline} runs on the old checkpoint {self.old}{at}. Change its start "
                "command to pass ${HEADGATE_CHECKPOINT} as checkpointLocation, then run `headgate "
                "plan` again"
            )


def _head_of(found: Checkpoint | None) -> list[Any]:
    return [found.query_id, *found.head] if found else [None, None, None]


def _place_of(inspector: Inspector, pipeline: str) -> str | None:
    registered = inspector.processes.registered(pipeline)
    return registered.checkpoint.rstrip("/") if registered and registered.checkpoint else None
