"""The input topics of a twin run of Kafka Streams, and their records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.errors import CaptureError
from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka_streams.jvm import class_files
from headgate.model.kafka_streams import StreamsApplication, looks_internal
from headgate.text.java_patterns import java_pattern
from headgate.twin.class_words import words_of
from headgate.twin.generate_records import RecordFeed, TopicRows, make_records
from headgate.usecases.rehearsal.one_version import Side
from headgate.usecases.rehearsal.read_user_cluster import sinks, sources

_SERDE = re.compile(r"(?P<kind>\w+?)Serde$")
_PARTS = ("key", "value")
Apps = tuple[StreamsApplication, StreamsApplication]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The input topics of both versions; `outputs` are the output topics that they name."""

    topics: tuple[TopicRows, ...]
    outputs: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """The names of the input topics."""
        return frozenset(t.name for t in self.topics)

    def feed(self, sides: Sequence[Side], *, rows: int, seed: int) -> RecordFeed:
        """Return the records; they include constant strings of the code of both sides."""
        words = words_of(c for side in sides for c in class_files(side.jars, side.what.type))
        return make_records(self.topics, rows=rows, seed=seed, literals=words)


def inputs_of(
    apps: Apps, sides: Sequence[Side], serdes: Mapping[str, str], sample: Sequence[Record]
) -> Inputs:
    """Return the topics that a version reads and neither version writes, and how to fill them.

    `serdes` are KEY:VALUE by topic. A topic without an entry has the default serdes of the
    settings. CaptureError if there is no topic, or if the format of its records is unknown.
    """
    choice = _Choice(apps, sides, serdes, sample)
    topics = tuple(choice.rows(name) for name in sorted(choice.names()))
    if not topics:
        raise CaptureError(
            "neither version reads an input topic: each topic is internal or is written by the "
            "version itself. Check CLASS#method"
        )
    written = {t for app in apps for t in sinks(app) if not looks_internal(t)}
    return Inputs(topics=topics, outputs=frozenset(written - {t.name for t in topics}))


@dataclass(frozen=True, slots=True)
class _Choice:
    apps: Apps
    sides: Sequence[Side]
    serdes: Mapping[str, str]
    sample: Sequence[Record]
    pairs: dict[str, list[tuple[bytes | None, bytes | None]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for record in self.sample:
            self.pairs.setdefault(record.topic, []).append((record.key, record.value))

    def names(self) -> Iterator[str]:
        named = {t for app in self.apps for s in app.sources for t in s.topics} | self.pairs.keys()
        patterns = {s.pattern for app in self.apps for s in app.sources if s.pattern}
        for pattern in patterns:
            if not any(_fits(pattern, name) for name in named):
                named.add(_matching(pattern))
        read = {t for app in self.apps for t in sources(app, named)}
        written = {t for app in self.apps for t in sinks(app)}
        yield from (t for t in read - written if not looks_internal(t))

    def rows(self, topic: str) -> TopicRows:
        if topic in self.pairs:
            # Topics that are joined need equal numbers, and a sample may not have all partitions.
            partitions = max(max(r.partition, 0) for r in self.sample) + 1
            return TopicRows(name=topic, partitions=partitions, sample=self.pairs[topic])
        key, value = self._serdes(topic)
        return TopicRows(name=topic, key=key, value=value, deletes=self._is_table(topic))

    def _serdes(self, topic: str) -> tuple[str, str]:
        said = self.serdes.get(topic)
        if said is not None:
            key, _, value = said.partition(":")
            return key.lower(), (value or key).lower()
        key, value = (self._default(topic, part) for part in _PARTS)
        return key, value

    def _default(self, topic: str, part: str) -> str:
        names = [side.settings.get(f"default.{part}.serde", "") for side in reversed(self.sides)]
        match = _SERDE.search(next((n for n in names if n), ""))
        if match is None:
            raise CaptureError(
                f"Headgate doesn't know the type of the {part}s of topic {topic}. Pass a sample "
                f"with --sample FILE, set default.{part}.serde in --properties, or pass "
                f"the types, such as --serde {topic}=string:long"
            )
        return match["kind"].lower()

    def _is_table(self, topic: str) -> bool:
        """Whether every source of the topic feeds a table, whose null values delete."""
        ways = [
            s.is_global or _feeds_table(app, s.processor)
            for app in self.apps
            for s in app.sources
            if topic in s.topics
        ]
        return bool(ways) and all(ways)


def _feeds_table(app: StreamsApplication, processor: str) -> bool:
    node = app.processor(processor)
    after = [app.processor(name) for name in node.successors] if node else []
    return bool(after) and all(p is not None and p.operator == "table_source" for p in after)


def _matching(pattern: str) -> str:
    """Return a topic's name that a pattern matches; CaptureError if none is found."""
    plain = re.sub(r"\\.|\[[^\]]*\]|[.*+?^$(){}|]", "", pattern)
    for name in (plain, f"{plain}1", pattern.replace("\\", "")):
        if name and _fits(pattern, name):
            return name
    raise CaptureError(
        f"Headgate can't derive a topic name from the pattern {pattern}: pass records with "
        "--sample FILE"
    )


def _fits(pattern: str, name: str) -> bool:
    """One that only Java understands matches nothing."""
    compiled = java_pattern(pattern)
    return compiled is not None and compiled.fullmatch(name) is not None
