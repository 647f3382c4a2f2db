"""Write down which records of a query's output come a second time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, ClassVar

from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.text.numbers import plural

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What one partition holds of later batches: its first offset, and the one behind its last."""

    partition: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOutput(StepBase):
    """Save the offsets of the output records after a batch, which the query will write again.

    Their time identifies them: Spark's Kafka sink leaves it to its producer or to the broker, and
    no record of a batch is older than `since` (Unix milliseconds), when the first of them was
    planned. `written` is the preview. Records of others that were written since are among them.
    `file` is the record's name in the run's folder.
    """

    action: ClassVar[str] = "record_output"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"written"})
    topic: str
    batch: int
    since: int
    written: tuple[Written, ...] = ()
    file: str = "output.json"

    def describe(self) -> str:
        return (
            f"save the offsets of records written to topic {self.topic} after batch {self.batch}: "
            f"{spans(self.topic, self.written)}"
        )

    def bind(self, applier: Applier) -> PriorState:
        """Look, now that nothing more comes, and decide where the record goes."""
        return {
            "file": str(PurePosixPath(applier.folders.snapshot_folder()) / self.file),
            "written": [asdict(one) for one in written_since(applier, self.topic, self.since)],
        }

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write it, and say it."""
        rows = [Written(**one) for one in was["written"]]
        record: dict[str, Any] = {"topic": self.topic, "batch": self.batch, "since": self.since}
        text = json.dumps({**record, "written": was["written"]}, indent=1) + "\n"
        applier.folders.write_record(was["file"], text)
        applier.note(
            f"output records after batch {self.batch}: {spans(self.topic, rows)}. The query will "
            "write its own records among them a second time. Records of other producers can also "
            "be among them"
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """`write_record` returns only when the file is on disk."""


def written_since(inspector: Inspector, topic: str, since: int) -> tuple[Written, ...]:
    """Return what each partition holds from the first record on that is not older than `since`."""
    return tuple(_written(inspector, topic, since))


def _written(inspector: Inspector, topic: str, since: int) -> Iterator[Written]:
    found = inspector.kafka.topics([topic]).get(topic)
    parts = found.partitions if found else ()
    first = inspector.kafka.first_at([(topic, p.number) for p in parts], since) if parts else {}
    for part in parts:
        begin = first.get((topic, part.number))
        if begin is not None and part.end is not None and begin < part.end:
            yield Written(partition=part.number, begin=begin, end=part.end)


def spans(topic: str, written: tuple[Written, ...] | list[Written]) -> str:
    """Return their number and offsets, as `headgate plan skip-records --records` takes them."""
    if not written:
        return "none"
    shown = [f"{topic}:{w.partition}:{w.begin}-{w.end - 1}" for w in written[:_SHOWN]]
    more = (
        (f" and {plural(len(written) - _SHOWN, 'more partition')}") if len(written) > _SHOWN else ""
    )
    return f"{plural(sum(w.end - w.begin for w in written), 'record')}, {', '.join(shown)}{more}"
