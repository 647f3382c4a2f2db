"""Topics that were deleted and recreated, so that old offsets are now offsets of other records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headgate.model.cluster import CLOCKS, Topic
from headgate.model.restore_points import RestorePoint
from headgate.model.version import Version
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso, milliseconds, moment

_CLOCKS_MS = CLOCKS.total_seconds() * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopics:
    """The ids of topics at a time (Unix milliseconds, None if unknown)."""

    ids: Mapping[str, str] = field(default_factory=dict)
    at_ms: int | None = None


def known_topics(version: Version | None, point: RestorePoint | None = None) -> KnownTopics:
    """Return the topic ids of a restore point, else those of the stored version."""
    if point is not None and point.topic_ids:
        return KnownTopics(ids=point.topic_ids, at_ms=_milliseconds(point.made_at))
    if version is None:
        return KnownTopics()
    return KnownTopics(ids=version.topic_ids, at_ms=_milliseconds(version.captured_at))


@dataclass(frozen=True, slots=True, kw_only=True)
class OldOffsets:
    """Offsets up to which records were read at the time `at_ms` (Unix milliseconds).

    `name` says which these are, for sentences: `batch 7`.
    """

    name: str
    offsets: Mapping[TopicPart, int]
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class RecreatedTopics:
    """Sentences: `blockers` if a topic id or a record shows it, `risks` if it isn't certain."""

    blockers: list[str] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)


PROBABLY_RECREATED = Risk(
    "topic {topic} was probably recreated: {evidence}. If so, the records before the offsets "
    "of {old} were never processed. Check the topic, or use from-scratch. If a producer's "
    "clock was ahead, ignore this risk",
    old="batch N",
)
MAYBE_RECREATED = Risk(
    "topic {topic} was recreated since the last stored version. Headgate can't determine "
    "whether the offsets of {old} are of the old topic. If they are, the new topic has other "
    "records at these offsets. In that case, use from-scratch, or from-point with "
    "--to-datetime or --to-earliest",
    old="batch N",
)


def recreated_topics(
    inspector: Inspector, topics: Mapping[str, Topic], old: OldOffsets, known: KnownTopics
) -> RecreatedTopics:
    """Return which of the topics aren't those that the old offsets were read from.

    Neither a checkpoint nor a committed offset has the topic's id. A topic with another id than at
    a later time than the offsets was recreated since. Else a record before an old offset shows it
    that is newer than the time at which the pipeline had read it. If all records are older, such as
    copies with their old timestamps, nothing shows it.
    """
    found = RecreatedTopics()
    unequal = {n: t for n, t in topics.items() if t.id is None or known.ids.get(n) != t.id}
    newer = dict(_newer(inspector, {p: o for p, o in old.offsets.items() if p[0] in unequal}, old))
    for name, topic in sorted(unequal.items()):
        is_other = name in known.ids and topic.id is not None
        is_since = is_other and _is_before(old.at_ms, known.at_ms)
        if is_since or (is_other and name in newer):
            found.blockers.append(
                f"topic {name} was deleted and recreated, and the offsets of {old.name} are of the "
                f"old topic: {name} had the id {known.ids[name]}, and now has {topic.id}. At these "
                "offsets, the new topic has other records. Use from-scratch, or from-point with "
                "--to-datetime or --to-earliest"
            )
        elif name in newer:
            found.risks.append(PROBABLY_RECREATED(topic=name, evidence=newer[name], old=old.name))
        elif is_other and old.at_ms is None:
            found.risks.append(MAYBE_RECREATED(topic=name, old=old.name))
    return found


def _newer(
    inspector: Inspector, offsets: Mapping[TopicPart, int], old: OldOffsets
) -> Iterator[tuple[str, str]]:
    """Yield the topics with a record before an old offset that is newer than its reading."""
    read = [part for part, offset in offsets.items() if offset > 0]
    if old.at_ms is None or not read:
        return
    firsts = inspector.kafka.first_at(read, int(old.at_ms + _CLOCKS_MS))
    for topic, number in sorted(read):
        first = firsts.get((topic, number))
        if first is not None and first < offsets[topic, number]:
            yield (
                topic,
                f"the record at offset {first} of {topic}[{number}] is newer than {old.name} "
                f"({iso(from_milliseconds(old.at_ms))}), which ends at offset "
                f"{offsets[topic, number]}",
            )


def _is_before(at: int | None, later: int | None) -> bool:
    return at is not None and later is not None and at <= later


def _milliseconds(at: str | None) -> int | None:
    return milliseconds(moment(at, option="at")) if at else None


RECREATED_RISKS = (
    PROBABLY_RECREATED,
    MAYBE_RECREATED,
)
