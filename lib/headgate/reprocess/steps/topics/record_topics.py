"""Write down which topics an application has, and how they are set."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from headgate.reprocess.ports.inspector import Effects
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import Was


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTopics(StepBase):
    """Write partitions, replication and settings of topics to a file; records are not copied."""

    action: ClassVar[str] = "record_topics"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    application: str
    topics: tuple[str, ...]

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"record {len(self.topics)} topic(s) of {self.application} and their settings"

    def bind(self, effects: Effects) -> Was:
        """Decide where the record goes."""
        return {"file": str(PurePosixPath(effects.snapshot_place()) / "topics.json")}

    def apply(self, effects: Effects, was: Was) -> None:
        """Write them; what is gone meanwhile is left out."""
        shapes = effects.shapes(self.topics)
        rows = [asdict(shapes[name]) for name in sorted(shapes)]
        text = json.dumps({"application": self.application, "topics": rows}, indent=1) + "\n"
        effects.write_record(was["file"], text)

    def verify(self, effects: Effects, was: Was) -> None:
        """`write_record` returns only when the file is on disk."""
