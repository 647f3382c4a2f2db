"""Move a folder to backup by a rename, and restore it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import OUTPUT_FOLDER, PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import RestoreFolder, beside, check_kept


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveToBackup(StepBase):
    """Move a folder of the stopped pipeline to a hidden backup folder next to it.

    `what` is a word for people. The pipeline is verified to be stopped, by `checkpoint` if there is
    no other source. If the folder doesn't exist, nothing is moved.
    """

    action: ClassVar[str] = "move_to_backup"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    pipeline: str
    folder: str
    what: str
    checkpoint: str | None = None

    def describe(self) -> str:
        return (
            f"move the {self.what} {self.folder} to a backup folder next to it. Headgate keeps the "
            "backup folder until it deletes the snapshots of this run (`keep_snapshots` under "
            "[runs] in headgate.toml)"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the pipeline runs."""
        looked_at = None if again else self.checkpoint
        check_stopped(inspector, self.pipeline, checkpoint=looked_at)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where it goes, and take the hash that an undo restores."""
        aside = beside(self.folder, "aside", applier.run)
        return {"aside": aside, "hash": applier.folders.tree_hash(self.folder)}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it was moved to backup, or never existed."""
        if was["hash"] is None:
            return not applier.folders.exists(self.folder)
        return applier.folders.exists(was["aside"]) and not applier.folders.exists(self.folder)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rename it."""
        if was["hash"] is not None and not applier.folders.exists(was["aside"]):
            applier.folders.move(self.folder, was["aside"])

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if something writes: the folder exists again, or its backup isn't whole."""
        if applier.folders.exists(self.folder):
            how = "created" if was["hash"] is None else "recreated"
            raise StepError(
                f"the {self.what} {self.folder} was {how}: another process writes to this folder. "
                f"Stop that process, move the {how} folder away, then resume the run"
            )
        if was["hash"] is None:
            applier.note(f"no {self.what} found at {self.folder}")
        else:
            check_kept(applier, self.folder, was)
            applier.note(f"the {self.what} {self.folder} was moved to the backup {was['aside']}")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the folder from backup."""
        if was["hash"] is None:
            return ()
        back = RestoreFromBackup(
            pipeline=self.pipeline,
            folder=self.folder,
            what=self.what,
            aside=was["aside"],
            hash=was["hash"],
        )
        return (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreFromBackup(RestoreFolder):
    """Restore a folder from backup; move output that was written since to backup."""

    action: ClassVar[str] = "restore_from_backup"
    symbol: ClassVar[str] = "+"
    key: ClassVar[str] = "fresh"
    word: ClassVar[str] = "since"
    pipeline: str
    folder: str
    what: str
    aside: str
    hash: str

    @property
    def place(self) -> str:
        return self.folder

    @property
    def takes_output_back(self) -> bool:
        """Whether it is the folder of a file sink."""
        return self.what == OUTPUT_FOLDER

    @property
    def thing(self) -> str:
        return self.what

    def describe(self) -> str:
        return f"restore the {self.what} {self.folder} from backup"

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say where goes what was written since."""
        return (
            f"files written to {self.folder} since the run: the undo moves them to a backup folder",
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the pipeline runs."""
        check_stopped(inspector, self.pipeline)
