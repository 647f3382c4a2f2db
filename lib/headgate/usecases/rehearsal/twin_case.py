"""One broker in a twin run of Kafka Streams, and the starts on it, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka.topics import TopicPart
from headgate.gateway.kafka_broker.rehearsal_broker import RehearsalBroker, Wanted, live_keys
from headgate.gateway.kafka_streams.rehearsal import Ran
from headgate.model.cluster import GroupOffset
from headgate.model.kafka_streams import looks_internal
from headgate.model.kafka_streams_rehearsal import StreamsStage
from headgate.model.rehearsal import EngineOutcome
from headgate.twin.generate_records import Made
from headgate.twin.streams_experiment import How, Start
from headgate.usecases.rehearsal.twin_topics import Inputs

_HOW: Mapping[EngineOutcome, How] = {
    EngineOutcome.RESUMES: "resumes",
    EngineOutcome.REFUSES: "refuses",
    EngineOutcome.UNKNOWN: "unknown",
}


@dataclass(slots=True)
class TwinCase:
    """One broker with its state directory.

    `there` are topics of earlier runs. Outputs and changelogs were read up to the offsets in
    `read`. `is_sampled`: error messages of a task may contain sampled values, so they aren't shown.
    """

    name: str
    broker: RehearsalBroker
    folder: Path
    is_sampled: bool
    there: frozenset[str]
    inputs: frozenset[str] = frozenset()
    read: dict[TopicPart, int] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The state directory."""
        return self.folder / "state"

    def fill(
        self,
        group: str,
        inputs: Inputs,
        records: Sequence[Made],
        offsets: Mapping[TopicPart, int] | None = None,
    ) -> None:
        """Create the topics, write records, and set the group's first offsets."""
        self.inputs = inputs.names
        written = _records(records)
        outside = [Wanted(name, 1, "output") for name in sorted(inputs.outputs)]
        wanted = [
            Wanted(
                topic.name,
                topic.partitions,
                "input",
                records=[r for r in written if r.topic == topic.name],
                committed=_committed(topic.name, offsets or {}),
            )
            for topic in inputs.topics
        ]
        self.broker.fill(group, [*outside, *wanted])

    def write(self, records: Sequence[Made]) -> None:
        """Write more records."""
        self.broker.write_input([Wanted(t, 0, "") for t in self.inputs], _records(records))

    def left(self, group: str, ran: Ran) -> Start:
        """Return what a start wrote since the last call, and the current content of the stores."""
        names = set(self.broker.kafka.partitions()) - self.there - self.inputs
        internal = {n for n in names if n.startswith(f"{group}-") and looks_internal(n)}
        outputs = {n for n in names - internal if not n.startswith("__")}
        new = self.broker.records(outputs, self.read)
        new.sort(key=lambda r: (r.partition, r.offset))
        start = Start(
            how=_HOW[ran.outcome],
            causes=self._causes(ran),
            stage=ran.stage.value if ran.stage else "",
            question=ran.question,
            outputs={t: [(r.key, r.value) for r in new if r.topic == t] for t in outputs},
        )
        return self._with_stores(start, group, {n for n in internal if n.endswith("-changelog")})

    def _with_stores(self, start: Start, group: str, changelogs: set[str]) -> Start:
        by_store: dict[str, list[Record]] = {_store(n, group): [] for n in changelogs}
        for record in self.broker.records(changelogs):
            by_store[_store(record.topic, group)].append(record)
        updates = {store: sum(map(self._is_new, found)) for store, found in by_store.items()}
        self.read |= self.broker.ends(changelogs | start.outputs.keys())
        stores = {store: live_keys(found) for store, found in by_store.items()}
        return replace(start, stores=stores, updates=updates)

    def _is_new(self, record: Record) -> bool:
        return record.offset >= self.read.get((record.topic, record.partition), 0)

    def _causes(self, ran: Ran) -> tuple[str, ...]:
        if not self.is_sampled or ran.stage in (StreamsStage.BUILD, StreamsStage.START):
            return ran.causes
        return tuple(cause.partition(": ")[0] for cause in ran.causes)


def _store(changelog: str, group: str) -> str:
    return changelog.removeprefix(f"{group}-").removesuffix("-changelog")


def _records(made: Sequence[Made]) -> list[Record]:
    return [Record(r.topic, r.partition, -1, r.key, r.value, r.timestamp) for r in made]


def _committed(topic: str, offsets: Mapping[TopicPart, int]) -> dict[int, GroupOffset]:
    return {
        part: GroupOffset(topic=topic, partition=part, offset=offset)
        for (name, part), offset in offsets.items()
        if name == topic
    }
