"""Move what a file sink has of batches to reprocess to backup, and restore it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.text.numbers import plural

LOG = "_spark_metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class CutSinkLog(StepBase):
    """Move the file sink's log entries and files of later batches to backup.

    A file sink skips a batch that its log has: the new run's output would be dropped without an
    error. The backup stays on the same file system, in a hidden folder of the output. `later` and
    `files` are how much that is, 0 if not measured. `kept` is the log as a restore point has it, if
    Spark has compacted the entries of that batch since.
    """

    action: ClassVar[str] = "cut_sink_log"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"later", "files"})
    pipeline: str
    target: str
    batch: int
    later: int = 0
    files: int = 0
    kept: str | None = None

    @property
    def takes_output_back(self) -> bool:
        """Its new files go to a backup folder."""
        return True

    def describe(self) -> str:
        size = (
            f" ({plural(self.files, 'file')} of {plural(self.later, 'batch')})"
            if self.later
            else ""
        )
        return (
            f"move output files of batches after batch {self.batch} from {self.target} to "
            f"backup{size}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs, or the log can't be cut at the batch any more."""
        check_stopped(inspector, self.pipeline)
        if again:
            return
        found = inspector.sinks.log(self.target, self.batch, self.kept)
        if found is None:
            raise RefusedError(
                f"the sink log {self.target}/{LOG} was not found. Run `headgate plan` again"
            )
        if found.problem is not None:
            raise RefusedError(found.problem)

    def bind(self, applier: Applier) -> PriorState:
        """Choose the backup path, and list the files, which the log no longer names afterwards."""
        log = str(PurePosixPath(self.target) / LOG)
        return {
            "aside": _aside(self.target, "before", applier.run),
            "files": applier.sinks.later_files(self.target, self.batch, self.kept),
            "hash": applier.folders.tree_hash(log),
        }

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Make the shorter log, change it for the longer one, then move the files."""
        log, old, new = _places(self.target, was["aside"])
        if not applier.folders.exists(old):
            applier.sinks.copy_log(self.target, self.batch, new, self.kept)
            applier.folders.move(log, old)
        if not applier.folders.exists(log):
            applier.folders.move(new, log)
        applier.folders.move_files(self.target, f"{was['aside']}/files", was["files"])

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if the log still has a later batch, or a file was not moved."""
        found = applier.sinks.log(self.target, self.batch)
        if found is None or found.later:
            raise StepError(
                f"the sink log {self.target}/{LOG} doesn't end at batch {self.batch}: another "
                "query probably writes to this log. Stop that query, then resume the run"
            )
        left = [name for name in was["files"] if applier.folders.exists(f"{self.target}/{name}")]
        if left:
            raise StepError(
                f"output file {self.target}/{left[0]} was not moved to backup. Resume the run to "
                "move the file"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the log and the files."""
        back = RestoreSinkLog(
            pipeline=self.pipeline,
            target=self.target,
            batch=self.batch,
            aside=was["aside"],
            files=tuple(was["files"]),
            hash=was["hash"],
        )
        return (back,)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSinkLog(StepBase):
    """Restore the sink's log and files; move output that was written since to backup."""

    action: ClassVar[str] = "restore_sink_log"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = False
    pipeline: str
    target: str
    batch: int
    aside: str
    files: tuple[str, ...]
    hash: str

    @property
    def takes_output_back(self) -> bool:
        """Its new files go to a backup folder."""
        return True

    def describe(self) -> str:
        return (
            f"restore {plural(len(self.files), 'output file')} of batches after batch {self.batch} "
            f"to {self.target}, and move output written after the run to backup"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs."""
        check_stopped(inspector, self.pipeline)

    def bind(self, applier: Applier) -> PriorState:
        """Refuse where the old log is gone; list what was written since."""
        log, old, _ = _places(self.target, self.aside)
        if not applier.folders.exists(old):
            if applier.folders.tree_hash(log) != self.hash:
                raise RefusedError(
                    f"the backup of the sink log of {self.target} is missing: {old} not found. "
                    f"Restore that folder from your own backup of {log}, then undo the run again"
                )
            return {"fresh": _aside(self.target, "after", applier.run), "files": []}
        return {
            "fresh": _aside(self.target, "after", applier.run),
            "files": applier.sinks.later_files(self.target, self.batch),
        }

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Move the new files and log away, then restore the old ones."""
        log, old, _ = _places(self.target, self.aside)
        fresh = was["fresh"]
        applier.folders.move_files(self.target, f"{fresh}/files", was["files"])
        applier.folders.move_files(f"{self.aside}/files", self.target, self.files)
        if applier.folders.exists(old):
            if applier.folders.exists(log):
                applier.folders.move(log, f"{fresh}/log")
            applier.folders.move(old, log)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the log is not what it was, or a file is not back."""
        if applier.folders.tree_hash(f"{self.target}/{LOG}") != self.hash:
            raise StepError(
                f"the undo restored the sink log {self.target}/{LOG}, but the log differs from the "
                "original. Another query probably writes to this log. Stop that query, and restore "
                "the folder from your own backup"
            )
        absent = [
            name for name in self.files if not applier.folders.exists(f"{self.target}/{name}")
        ]
        if absent:
            raise StepError(
                f"output file {self.target}/{absent[0]} was not restored. Resume the run to "
                "restore the file"
            )


def _aside(target: str, word: str, run: str) -> str:
    """Return a hidden folder of the output: on its file system, and read by nobody."""
    return str(PurePosixPath(target) / f".headgate-{word}-{run}")


def _places(target: str, aside: str) -> tuple[str, str, str]:
    """Return where the log is, where the old one goes, and where the shorter one is made."""
    return f"{target}/{LOG}", f"{aside}/log", f"{aside}/new"
