"""Write down which topics an application has, and how they are set."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.text.numbers import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTopics(StepBase):
    """Write partitions, replication and settings of topics to a file; don't copy records."""

    action: ClassVar[str] = "record_topics"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    application: str
    topics: tuple[str, ...]

    def describe(self) -> str:
        topics = plural(len(self.topics), "topic")
        return f"save partitions and settings of {topics} of {self.application} to a file"

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the record goes."""
        return {"file": str(PurePosixPath(applier.folders.snapshot_folder()) / "topics.json")}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write them; what is gone meanwhile is left out."""
        shapes = applier.kafka.shapes(self.topics)
        rows = [asdict(shapes[name]) for name in sorted(shapes)]
        text = json.dumps({"application": self.application, "topics": rows}, indent=1) + "\n"
        applier.folders.write_record(was["file"], text)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """`write_record` returns only when the file is on disk."""
