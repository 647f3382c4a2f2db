"""Replace a checkpoint with what was made beside it, and restore the old one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import RestoreFolder, beside, check_kept
from headgate.reprocess.steps.process.stop_start import stop_with

OUTPUT_STAYS = (
    "output written after the run stays in the sink. The query resumes at the last batch of the "
    "old checkpoint, so a sink that isn't idempotent can get duplicates"
)
OUTPUT_MOVED = (
    "after the undo, the query reprocesses the records since the run and writes their results "
    "again. Consumers that have read the files written since the run get duplicates"
)
"""The same, if the undo moves the output since the run to backup."""


class CheckpointSwap(StepBase):
    """Move the checkpoint of a stopped query to a backup and give its name to a copy beside it.

    The copy's name has `word` before the run's id, the backup's `backup_word`. A step says for
    itself whether the copy is the right one: `bind_copy` before the swap, `verify_new` after it.
    """

    __slots__ = ()

    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str

    @property
    def word(self) -> str:
        """What the copy's name has before the run's id."""
        raise NotImplementedError

    @property
    def backup_word(self) -> str:
        """What the backup's name has before the run's id."""
        return "before"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse if the query runs, or the checkpoint is another's or can't be moved.

        After a crash the copy may already be at the checkpoint's path. The age of logs that the run
        itself has just written doesn't say that a query runs: `apply` checks the logs of an old one
        before it moves it.
        """
        check_stopped(inspector, self.pipeline, checkpoint=None if again else self.checkpoint)
        if not again:
            self.check_old(inspector)

    def check_old(self, inspector: Inspector) -> None:
        """Refuse where the checkpoint is missing, another query's, or can't be moved."""
        check_movable(inspector, self.checkpoint, self.query_id)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the old one goes, and take the hash that an undo restores."""
        return {
            **self.bind_copy(applier),
            "aside": beside(self.checkpoint, self.backup_word, applier.run),
            "hash": applier.folders.tree_hash(self.checkpoint),
        }

    def bind_copy(self, applier: Applier) -> PriorState:
        """Name the `copy`, and what it is known by once it is in place."""
        return {"copy": beside(self.checkpoint, self.word, applier.run)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Move the old one away and the copy to its path, each in one step.

        What was done before a crash isn't repeated. StepError if the copy is missing before
        anything was moved, RefusedError if a query was started since.
        """
        if not applier.folders.exists(was["aside"]):
            if not applier.folders.exists(was["copy"]):
                raise StepError(
                    f"the copy {was['copy']} no longer exists, so checkpoint {self.checkpoint} was "
                    f"not replaced. Run `headgate undo {applier.run}`, then `headgate plan` again"
                )
            check_stopped(applier, self.pipeline, checkpoint=self.checkpoint)
            applier.folders.move(self.checkpoint, was["aside"])
        if applier.folders.exists(was["copy"]):
            applier.folders.move(was["copy"], self.checkpoint)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if the old one isn't whole, or what replaced it isn't the copy."""
        check_kept(applier, self.checkpoint, was)
        self.verify_new(applier, was)

    def verify_new(self, applier: Applier, was: PriorState) -> None:
        """Fail where a byte differs from the copy, whose hash is in `was` as `made`."""
        if applier.folders.tree_hash(self.checkpoint) != was["made"]:
            raise StepError(
                f"checkpoint {self.checkpoint} differs from the copy that replaced it: another "
                "process writes to the checkpoint. Stop that process, run `headgate undo "
                f"{applier.run}`, then `headgate plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the old checkpoint."""
        return restore_steps(self.pipeline, self.checkpoint, was)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreCheckpoint(RestoreFolder):
    """Restore the old checkpoint byte for byte; the checkpoint at its path moves to backup."""

    action: ClassVar[str] = "restore_checkpoint"
    symbol: ClassVar[str] = "~"
    key: ClassVar[str] = "fresh"
    word: ClassVar[str] = "after"
    pipeline: str
    checkpoint: str
    aside: str
    hash: str

    @property
    def place(self) -> str:
        return self.checkpoint

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """The old one must be what it was."""
        return {"checkpoint": {"location": self.checkpoint, "hash": self.hash}}

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what is not rolled back."""
        return (OUTPUT_STAYS,)

    def stop_first(self, commands: Commands) -> tuple[Step, ...] | None:
        """Stop the query: a run that ended before its start left it stopped, for now."""
        return (stop_with(commands, self.pipeline, checkpoint=self.checkpoint),)

    @property
    def thing(self) -> str:
        return "checkpoint"

    def describe(self) -> str:
        return f"restore the old checkpoint {self.checkpoint} from {self.aside}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs; hashes are for `bind` and `verify`, only they may read."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a byte differs, and say that none does."""
        RestoreFolder.verify(self, applier, was)
        applier.note(
            f"checkpoint {self.checkpoint} is identical to the original (hash {self.hash[:12]})"
        )


def restore_steps(pipeline: str, checkpoint: str, was: PriorState) -> tuple[Step, ...]:
    """Return the undo of a step that kept a checkpoint: `was` has its backup and its `hash`."""
    return (
        RestoreCheckpoint(
            pipeline=pipeline, checkpoint=checkpoint, aside=was["aside"], hash=was["hash"]
        ),
    )


def check_movable(inspector: Inspector, location: str, query_id: str) -> None:
    """Refuse if the checkpoint is missing, another query's, or can't be moved to backup."""
    found = check_query(inspector, location, query_id)
    if found.fixed:
        raise RefusedError(f"Headgate can't replace checkpoint {location}: {found.fixed}")


def check_query(inspector: Inspector, location: str, query_id: str) -> Checkpoint:
    """Return the checkpoint there; refuse where it is missing or another query's."""
    found = inspector.checkpoints.read(location)
    if found is None:
        raise RefusedError(f"checkpoint {location} not found. Check `checkpoint` in headgate.toml")
    if found.query_id != query_id:
        raise StalePlanError(
            f"checkpoint {location} now belongs to query {found.query_id}, not to query "
            f"{query_id}. Run `headgate plan` again"
        )
    return found
