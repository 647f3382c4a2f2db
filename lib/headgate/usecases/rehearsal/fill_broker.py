"""The topics and records on which a rehearsal of Kafka Streams starts both versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka_broker.rehearsal_broker import (
    MOST_FILLED,
    Wanted,
    holes,
    without_directory,
)
from headgate.gateway.kafka_streams.state_directory import StateDirectory
from headgate.model.kafka_streams import StreamsApplication, looks_internal
from headgate.model.version import Version
from headgate.usecases.rehearsal.read_user_cluster import (
    Bounds,
    UserCluster,
    copied,
    sinks,
    sources,
)


@dataclass(frozen=True, slots=True)
class Stage:
    """The topics and records for a start on the rehearsal's broker.

    `uses_directory` is False if the offsets in the state directory don't fit the copied changelogs:
    then the stores are restored from the changelogs. `seen` is the user's cluster, None without a
    cluster.
    """

    topics: tuple[Wanted, ...]
    seen: UserCluster | None
    uses_directory: bool
    given: tuple[Record, ...] = ()

    def committed(self, inputs: Sequence[str]) -> int:
        """Return the sum of the offsets at which the group continues in these topics."""
        own = (t for t in self.topics if t.name in inputs)
        return sum(o.offset or 0 for t in own for o in t.committed.values())

    def with_outputs(self, app: StreamsApplication) -> Stage:
        """Return the stage with topics for the other outputs of a version."""
        have = {t.name for t in self.topics}
        lacking = sorted(sinks(app) - have)
        made = (Wanted(n, self._partitions(n), "output") for n in lacking)
        return replace(self, topics=(*self.topics, *made))

    def without_input(self) -> Stage:
        """Return the stage with all topics, but only with records of changelogs."""
        topics = (t if t.role == "changelog" else replace(t, records=()) for t in self.topics)
        return replace(self, topics=tuple(topics), given=())

    def _partitions(self, name: str) -> int:
        topic = self.seen.topics.get(name) if self.seen else None
        return len(topic.partitions) if topic else 1


def stage_of(
    app: StreamsApplication,
    directory: StateDirectory,
    seen: UserCluster | None,
    old: Version | None,
    *,
    bounds: Bounds,
    batch: bool,
    given: Sequence[Record] = (),
) -> Stage:
    """Return the topics as on the cluster, or as the evidence and the state directory report them.

    An input topic that the cluster doesn't have isn't created, because Kafka Streams must report
    it. `given` records replace the unread records of the cluster.
    """
    if seen is None:
        topics = tuple(_supposed(app, directory, old, given))
        return Stage(topics, None, True, tuple(given))
    topics = tuple(copied(seen, app, bounds, batch=batch and not given))
    fits = sum(holes(t) for t in topics if t.ends is not None) <= MOST_FILLED
    if not fits:
        topics = tuple(without_directory(t) for t in topics)
    return Stage(topics, seen, fits, tuple(given))


def _supposed(
    app: StreamsApplication, directory: StateDirectory, old: Version | None, given: Sequence[Record]
) -> Iterator[Wanted]:
    """Yield topics if no cluster is given: partitions by evidence, else by the tasks."""
    known = dict(old.streams.inputs) if old and old.streams else {}
    highest: dict[str, int] = {}
    for record in given:
        highest[record.topic] = max(highest.get(record.topic, 0), record.partition + 1)
    tasks = max(directory.partitions.values(), default=1)
    for topic in sorted(n for n in sources(app, known) if not looks_internal(n)):
        count = known.get(topic, max(tasks, highest.get(topic, 1)))
        yield Wanted(topic, count, "input")
    for topic in sorted(sinks(app) - sources(app, known)):
        yield Wanted(topic, known.get(topic, 1), "output")
    for internal in (old.streams.internal or ()) if old and old.streams else ():
        if internal.partitions:
            role = "changelog" if internal.name.endswith("-changelog") else "repartition"
            yield Wanted(internal.name, internal.partitions, role, dict(internal.configs))
