"""Put a run's results in place of the rows of a table that have the same keys."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.tables import TableChange
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.outputs.stage_rows import TargetTable, change_of, drop_backup
from headgate.text.numbers import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsertRows(StepBase):
    """Upsert the results into the target table; the same transaction copies the old rows.

    Other writers of the table wait until its end. A killed run has written all results or none. Of
    touched keys, it deletes the rows that no result replaces.
    """

    action: ClassVar[str] = "upsert_rows"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    target: TargetTable

    def describe(self) -> str:
        keys = ", ".join(self.target.keys)
        what = f"upsert the results into table {self.target.title} by key ({keys})"
        if self.target.touched_by:
            what += ", delete all other rows of the keys that late records touch"
        return f"{what}, and keep the {_gone(self.target.touched_by)} rows as a backup"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the table isn't as planned."""
        self.target.check(inspector)

    def bind(self, applier: Applier) -> PriorState:
        """Decide the names of the backup tables."""
        return asdict(self.target.change(applier.run))

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the transaction was committed."""
        return applier.tables.is_replaced(change_of(was))

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the transaction."""
        change = change_of(was)
        counts = applier.tables.replace_rows(change)
        if counts is not None:
            deleted = f", {plural(counts.deleted, 'row')} deleted" if change.touched else ""
            applier.note(
                f"{change.title}: {plural(counts.added, 'row')} added, "
                f"{plural(counts.replaced, 'row')} replaced{deleted}. The old rows are in "
                f"{change.schema}.{change.before}"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail unless the transaction was committed."""
        if not self.is_applied(applier, was):
            raise StepError(f"the results are not in table {self.target.title}. Resume the run")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the rows, then drop the backup."""
        change = change_of(was)
        return (RestoreRows(change=was), drop_backup(change))


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRows(StepBase):
    """Delete the rows that a run has added and restore those that it replaced or deleted."""

    action: ClassVar[str] = "restore_rows"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    change: dict[str, Any]

    @property
    def _change(self) -> TableChange:
        return change_of(self.change)

    def describe(self) -> str:
        return (
            f"delete the rows that the run added to {self._change.title}, and restore the "
            f"{_gone(self._change.touched_by)} rows"
        )

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Say which rows somebody has changed since."""
        try:
            changed = inspector.tables.later_changes(self._change)
        except RefusedError as error:
            return (str(error),)
        if changed is None or not changed.count:
            return ()
        return (changed.sentence(self._change.title),)

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the rows are as before the run."""
        return applier.tables.is_restored(self._change)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Restore them in one transaction."""
        applier.tables.restore_rows(self._change)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail unless the rows are as before the run."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"the rows of table {self._change.title} are not restored. Resume the undo"
            )


def _gone(touched_by: tuple[str, ...]) -> str:
    """Return what becomes of the old rows."""
    return "replaced and deleted" if touched_by else "replaced"
