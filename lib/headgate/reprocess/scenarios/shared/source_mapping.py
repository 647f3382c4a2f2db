"""Which source of the new version continues which source of the old version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headgate.errors import ScenarioError
from headgate.model.version import Source, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.checkpoint.source_succession import Take
from headgate.text.java_patterns import java_pattern
from headgate.text.risk import Risk

NEW = "new"
_FORM = "NEW=OLD, for example `0=1`, `orders=0`, `0=0,1` (two old sources) or `2=new` (none)"


def deleted_topics(
    inspector: Inspector, position: QueryPosition, version: Version | None
) -> frozenset[str]:
    """Return the topics of the old sources that no longer exist and that only patterns read.

    A pattern reads only topics that exist, so Spark needs no offsets of the others.
    """
    sources = _placed(version).values()
    if not any(s.pattern for s in sources) or not inspector.kafka.has_cluster():
        return frozenset()
    exact = {topic for source in sources for topic in source.topics}
    old = {topic for source in position.sources for topic in source.offsets} - exact
    old = {topic for topic in old if any(reads_topic(s, topic) for s in sources)}
    found = inspector.kafka.topics(sorted(old)) if old else {}
    return frozenset(old - found.keys())


TOPIC_DELETED = Risk(
    "topic {topic} was deleted, so the new checkpoint has no offsets of this topic"
)


def deleted_risks(deleted: Iterable[str]) -> list[str]:
    """Say that nothing continues at the old offsets of deleted topics."""
    return [TOPIC_DELETED(topic=name) for name in sorted(deleted)]


def given_takes(
    rows: Iterable[str],
    position: QueryPosition,
    version: Version | None,
    deleted: frozenset[str] = frozenset(),
) -> tuple[tuple[Take, ...], list[str]]:
    """Read rows of `NEW=OLD`, with risks; one that takes nothing (`2=new`) is in no Take."""
    found: dict[str, Take | None] = {}
    for row in rows:
        name, equals, olds = (part.strip() for part in row.partition("="))
        of = tuple(old.strip() for old in olds.split(","))
        if not (name and equals and all(of)):
            raise ScenarioError(f"--source: expected {_FORM}, found {row!r}")
        if name in found:
            raise ScenarioError(f"--source: pass source {name} of the new version only once")
        found[name] = None if of == (NEW,) else Take(name=name, of=of)
    sources = _placed(version)
    takes = [
        _narrowed(t, sources.get(t.name), position, deleted)
        for t in found.values()
        if t is not None
    ]
    risks = [risk for t in takes for risk in _added(t, sources.get(t.name), position)]
    return _ordered(takes), [*_left_over(takes, position), *risks]


SOURCES_ASSUMED = Risk(
    "no stored version shows the query's sources. Headgate assumes that they are those of the "
    "old checkpoint, in the same order. If they differ, use new-checkpoint with --source "
    "NEW=OLD"
)
SOURCE_BEGINS = Risk(
    "source {source} of the new version has no stored offsets, because no source of the old "
    "checkpoint corresponds to it. Its options, such as startingOffsets, decide where Spark starts "
    "to read"
)


def matched_takes(
    position: QueryPosition, version: Version | None, deleted: frozenset[str] = frozenset()
) -> tuple[tuple[Take, ...], list[str], list[str]]:
    """Return which takes what by topics, with blockers and risks.

    Without a version that lists its sources, they are assumed to be the same in the same order.
    """
    new = _placed(version)
    named = any(not s.name.isdecimal() for s in position.sources)
    if not new:
        same = tuple(Take(name=s.name, of=(s.name,)) for s in position.sources)
        risk = SOURCES_ASSUMED()
        return _ordered(same), [], [risk]
    if named:
        new = {(s.name or name): s for name, s in new.items()}
    takes: list[Take] = []
    blockers: list[str] = []
    risks: list[str] = []
    for name, source in new.items():
        olds = _candidates(name, source, position)
        if len(olds) > 1 and any(o.name == name for o in olds):
            olds = [o for o in olds if o.name == name]
        if len(olds) > 1:
            names = " or ".join(o.name for o in olds)
            blockers.append(
                f"source {name} of the new version could continue source {names} of the old "
                "version: choose one with --source NEW=OLD of new-checkpoint"
            )
        elif olds:
            take = Take(name=name, of=(olds[0].name,))
            takes.append(_narrowed(take, source, position, deleted))
            risks += _added(take, source, position)
    risks += _left_over(takes, position)
    begun = [n for n in new if n not in {t.name for t in takes}] if not blockers else []
    risks += [SOURCE_BEGINS(source=n) for n in begun]
    return _ordered(takes), blockers, risks


def _ordered(takes: Iterable[Take]) -> tuple[Take, ...]:
    """Sort by name, so that a newly stored version without new facts doesn't change the plan."""
    return tuple(sorted(takes, key=lambda take: take.name))


def _narrowed(
    take: Take, source: Source | None, position: QueryPosition, deleted: frozenset[str]
) -> Take:
    """Return it with the topics that the new source still reads, where it leaves out some.

    Spark takes partitions that it no longer reads for lost data.
    """
    old = _old_topics(take, position)
    if source is None or not (source.topics or source.pattern):
        return take
    reads = {t for t in old if reads_topic(source, t)} - deleted
    return replace(take, topics=tuple(sorted(reads))) if reads and old - reads else take


TOPIC_ADDED = Risk(
    "source {source} also reads {topic}, which the old version did not read. Spark reads this "
    "topic from the earliest offset and ignores startingOffsets"
)


def _added(take: Take, source: Source | None, position: QueryPosition) -> list[str]:
    return [
        TOPIC_ADDED(source=take.name, topic=topic)
        for topic in sorted(set(_topics(source) or ()) - _old_topics(take, position))
    ]


def _old_topics(take: Take, position: QueryPosition) -> set[str]:
    olds = (position.source(name) for name in take.of)
    return {topic for old in olds if old for topic in old.offsets}


def _left_over(takes: Iterable[Take], position: QueryPosition) -> list[str]:
    """Name the sources of the old version that no new source continues."""
    taken = {old for take in takes for old in take.of}
    return [_left(s) for s in position.sources if s.name not in taken]


SOURCE_ENDS = Risk(
    "no source of the new version continues source {source}{topics} of the old version, so "
    "the offsets of that source are not used",
    topics=" (TOPICS)",
)


def _left(source: SourcePosition) -> str:
    what = f" ({', '.join(sorted(source.offsets))})" if source.offsets else ""
    return SOURCE_ENDS(source=source.name, topics=what)


def _placed(version: Version | None) -> dict[str, Source]:
    """Return the sources by their positions in the offset log; empty if they aren't known."""
    found: dict[str, Source] = {}
    for source in (version.sources or ()) if version and not version.is_partial else ():
        if source.log_places is None:
            return {}
        for place in source.log_places or (source.position,):
            found[str(place)] = source
    return found


def _candidates(name: str, source: Source, position: QueryPosition) -> list[SourcePosition]:
    if source.format == "kafka":
        kafka = [s for s in position.sources if s.kind is SourceKind.KAFKA]
        if source.topics:
            return [s for s in kafka if set(s.offsets) & set(source.topics)]
        same = [s for s in kafka if s.name == name]
        return same or kafka
    if source.format in ("rate", "rate-micro-batch", "socket"):
        return [s for s in position.sources if s.kind is SourceKind.OTHER and s.name == name]
    others = [s for s in position.sources if s.kind is not SourceKind.KAFKA]
    same = [s for s in others if s.name == name]
    return same or others


def reads_topic(source: Source, topic: str) -> bool:
    """Whether a source reads a topic: Spark looks for its pattern anywhere in the name."""
    if topic in source.topics or not source.pattern:
        return topic in source.topics
    compiled = java_pattern(source.pattern)
    # What a pattern matches that only Java understands isn't known: the topic stays.
    return compiled is None or compiled.search(topic) is not None


def _topics(source: Source | None) -> tuple[str, ...] | None:
    return source.topics if source and source.topics and not source.pattern else None


RISKS = (
    TOPIC_DELETED,
    SOURCES_ASSUMED,
    SOURCE_BEGINS,
    TOPIC_ADDED,
    SOURCE_ENDS,
)
