"""Replace a folder with a run's results, by renaming folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.outputs.process_records import staged_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallResults(StepBase):
    """Move the results of the run to the target folder; back up contents that they replace.

    For a moment, between the two moves, the folder doesn't exist. `replaced` is the hash of the
    contents that the results were made from, None if they weren't: others aren't replaced.
    """

    action: ClassVar[str] = "install_results"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    folder: str
    replaces: bool = False
    replaced: str | None = None

    def describe(self) -> str:
        if self.replaces:
            return (
                f"replace {self.folder} with the new results, and keep the old results as a backup"
            )
        return f"move the new results to {self.folder}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Nothing that another step has not checked: the applier looks before it moves."""

    def bind(self, applier: Applier) -> PriorState:
        """Decide the names, and keep what the results are: an undo deletes nothing else."""
        staged = staged_folder(self.folder, applier.run)
        return {
            "staged": staged,
            "backup": staged_folder(self.folder, f"backup-{applier.run}"),
            "content": applier.folders.tree_hash(staged),
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether both moves are done."""
        exists = applier.folders.exists
        has_backup = not self.replaces or exists(was["backup"])
        return has_backup and exists(self.folder) and not exists(was["staged"])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Do the moves that are missing."""
        folders = applier.folders
        if self.replaces and not folders.exists(was["backup"]):
            if self.replaced and folders.tree_hash(self.folder) != self.replaced:
                raise RefusedError(
                    f"files in {self.folder} changed while the run processed records. Stop the "
                    "process that writes to this folder, then run `headgate plan` again"
                )
            folders.move(self.folder, was["backup"])
        if folders.exists(self.folder):
            raise RefusedError(
                f"{self.folder} already exists. Move the folder away, then run `headgate plan` "
                "again"
            )
        folders.move(was["staged"], self.folder)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail unless the results are there."""
        if not self.is_applied(applier, was):
            raise StepError(f"the new results are not in {self.folder}. Resume the run")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Move the new results out of the target folder and restore its earlier contents."""
        return (RemoveResults(folder=self.folder, replaces=self.replaces, **was),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveResults(StepBase):
    """Move results back to `staged`, and the earlier contents from `backup` to `folder`."""

    action: ClassVar[str] = "remove_results"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    folder: str
    staged: str
    backup: str
    content: str | None = None
    replaces: bool = False

    def describe(self) -> str:
        if self.replaces:
            return f"restore the earlier contents of {self.folder}"
        return f"move the results from {self.folder} back to {self.staged}"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Do the moves that are missing."""
        folders = applier.folders
        if folders.exists(self.folder) and not folders.exists(self.staged):
            if folders.tree_hash(self.folder) != self.content:
                raise RefusedError(
                    f"files in {self.folder} were changed after the run, and the undo would "
                    "delete this folder. Move the folder away, then undo the run again"
                )
            folders.move(self.folder, self.staged)
        if self.replaces and folders.exists(self.backup):
            folders.move(self.backup, self.folder)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail unless the folder is as before the run.

        If the run moved nothing, because somebody else made the folder, it stays.
        """
        exists = applier.folders.exists
        moved_nothing = exists(self.staged) and not exists(self.backup)
        if not moved_nothing and exists(self.folder) != self.replaces:
            raise StepError(
                f"{self.folder} doesn't have its contents from before the run. Check the "
                "folder, then resume the undo"
            )
