"""Write down what a group has committed, before anything of it moves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.offsets.partition_offsets import committed


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOffsets(StepBase):
    """Write the group's committed offsets to a file, after the stop and before any change."""

    action: ClassVar[str] = "record_offsets"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    group: str

    def describe(self) -> str:
        return f"save the committed offsets of group {self.group} to a file"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Nothing to refuse: reading does no harm."""

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the record goes."""
        return {"file": str(PurePosixPath(applier.folders.snapshot_folder()) / "offsets.json")}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Never: no offset was moved yet, so the record is simply rewritten."""
        return False

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write topic, partition, offset, leader epoch and metadata of every committed offset."""
        rows = [
            {"topic": t, "partition": p, **c.row()}
            for (t, p), c in sorted(committed(applier, self.group).items())
        ]
        # A row a line; json's own indentation takes ten times as long.
        lines = ",\n".join(json.dumps(row) for row in rows)
        group = json.dumps(self.group)
        applier.folders.write_record(
            was["file"], f'{{"group": {group}, "offsets": [\n{lines}\n]}}\n'
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """`write_record` returns only when the file is on disk."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """There is nothing to undo; the file is kept."""
        return ()
