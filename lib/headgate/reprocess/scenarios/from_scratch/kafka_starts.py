"""Where a query's Kafka sources start without a checkpoint, and which topics they read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from headgate.model.cluster import Partition, Topic
from headgate.model.version import Source, Version
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios.shared.source_mapping import reads_topic

# What Spark takes in JSON for the earliest and the latest offset.
_EARLIEST, _LATEST = -2, -1


class Start(Enum):
    """Where a source starts; CHOSEN: at offsets or times that its options name."""

    EARLIEST = "earliest"
    LATEST = "latest"
    CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Starts:
    """Topics whose partitions begin at the starting offset; `unknown` are the other topics.

    Of the topics in `within`, the sources don't start at the earliest offset of any partition.
    """

    topics: Mapping[str, Topic] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    within: frozenset[str] = frozenset()


def kafka_sources(version: Version | None) -> list[Source]:
    """Return the version's sources that read Kafka."""
    return [s for s in (version.sources or ()) if s.format == "kafka"] if version else []


def start_of(source: Source) -> Start | None:
    """Return where the source starts; None where the evidence does not hold its options."""
    options = source.plain_options
    if {"startingtimestamp", "startingoffsetsbytimestamp"} & options.keys():
        return Start.CHOSEN
    given = options.get("startingoffsets")
    if given is None:
        return None
    word = given.strip().lower()
    return next((s for s in (Start.EARLIEST, Start.LATEST) if s.value == word), Start.CHOSEN)


def read_topics(version: Version | None, names: Iterable[str]) -> set[str]:
    """Return those of the topics that the version reads; all if its sources aren't known."""
    known = _known_sources(version)
    return {n for n in names if known is None or any(reads_topic(s, n) for s in known)}


def must_exist(version: Version | None, name: str) -> bool:
    """Whether the query fails without the topic; a pattern only reads topics that exist."""
    known = _known_sources(version)
    return known is None or any(name in source.topics for source in known)


def starting_offsets(
    inspector: Inspector, version: Version | None, topics: Mapping[str, Topic]
) -> Starts:
    """Return where the sources start to read each topic.

    A source whose options aren't known counts as one that starts at the earliest offset.
    """
    begins: dict[str, Topic] = {}
    within: set[str] = set()
    for name, topic in topics.items():
        parts = [replace(p, begin=at) for p, at in _first(inspector, version, topic).items()]
        if all(new.begin is not None or old.begin is None
               for new, old in zip(parts, topic.partitions, strict=True)):  # fmt: skip
            begins[name] = replace(topic, partitions=tuple(parts))
            moved = zip(parts, topic.partitions, strict=True)
            if all((new.begin or 0) > (old.begin or 0) for new, old in moved):
                within.add(name)
    unknown = tuple(sorted(topics.keys() - begins.keys()))
    return Starts(topics=begins, unknown=unknown, within=frozenset(within))


def _first(
    inspector: Inspector, version: Version | None, topic: Topic
) -> dict[Partition, int | None]:
    """Return each partition's first offset that any source reads, None where it is unknown."""
    sources = [s for s in kafka_sources(version) if _may_read(s, topic.name)]
    found = [_of_source(inspector, source, topic) for source in sources]
    if not found:
        return {part: part.begin for part in topic.partitions}
    return {part: _least([of[part.number] for of in found]) for part in topic.partitions}


def _least(offsets: list[int | None]) -> int | None:
    known = [offset for offset in offsets if offset is not None]
    return min(known) if len(known) == len(offsets) else None


def _of_source(inspector: Inspector, source: Source, topic: Topic) -> dict[int, int | None]:
    if start_of(source) is not Start.CHOSEN:
        return {part.number: part.begin for part in topic.partitions}
    options = source.plain_options
    if (at := options.get("startingtimestamp")) is not None:
        times = {part.number: _number(at) for part in topic.partitions}
    elif (by_time := options.get("startingoffsetsbytimestamp")) is not None:
        times = _listed(by_time, topic)
    else:
        offsets = _listed(options["startingoffsets"], topic)
        return {part.number: _in_log(offsets[part.number], part) for part in topic.partitions}
    is_latest = options.get("startingoffsetsbytimestampstrategy", "").strip().lower() == "latest"
    return _at_times(inspector, topic, times, without_record=is_latest)


def _at_times(
    inspector: Inspector, topic: Topic, times: Mapping[int, int | None], *, without_record: bool
) -> dict[int, int | None]:
    """Return the offsets of times; `without_record`: the latest offset if no record is as late."""
    found: dict[int, int | None] = {}
    for at in {t for t in times.values() if t is not None}:
        parts = [(topic.name, number) for number, wanted in times.items() if wanted == at]
        for (_, number), offset in inspector.kafka.first_at(parts, at).items():
            found[number] = offset
    return {
        part.number: _in_log(found.get(part.number), part)
        if found.get(part.number) is not None
        else (part.end if without_record and times[part.number] is not None else None)
        for part in topic.partitions
    }


def _in_log(offset: int | None, part: Partition) -> int | None:
    if offset is None or offset == _LATEST:
        return None if offset is None else part.end
    return part.begin if offset == _EARLIEST or part.begin is None else max(offset, part.begin)


def _listed(text: str, topic: Topic) -> dict[int, int | None]:
    """Return what JSON like {"orders": {"0": 7}} has for each partition of the topic."""
    try:
        given: Any = json.loads(text)
    except ValueError:
        given = None
    row = given.get(topic.name) if isinstance(given, dict) else None
    numbers = row if isinstance(row, dict) else {}
    return {part.number: _number(numbers.get(str(part.number))) for part in topic.partitions}


def _number(value: object) -> int | None:
    try:
        return int(str(value).strip())
    except ValueError:
        return None


def _may_read(source: Source, topic: str) -> bool:
    return not (source.topics or source.pattern) or reads_topic(source, topic)


def _known_sources(version: Version | None) -> list[Source] | None:
    """Return the Kafka sources if the version shows all of them, with what they read."""
    if version is None or version.is_partial or not version.sources:
        return None
    found = kafka_sources(version)
    told = all(source.format for source in version.sources)
    return found if told and all(s.topics or s.pattern for s in found) else None
