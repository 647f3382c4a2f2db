"""Where each source of a new version begins, found from where the old one's sources are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.model.cluster import Topic
from headgate.reprocess.checkpoint.source_offsets import (
    Beginning,
    QueryPosition,
    SourceKind,
    SourcePosition,
)
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.offsets.target import (
    OF_QUERY,
    Found,
    Target,
    TargetKind,
    TopicPart,
    find,
    missing_parts,
    numbers_of,
    say_cut,
)
from headgate.text.numbers import name_list, plural, span

CARRY = Target(place=TargetKind.CURRENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What one source of the new version continues: the sources `of` the old one, by name.

    Of Kafka only `topics`, if it is known which the new source reads.
    """

    name: str
    of: tuple[str, ...]
    topics: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One partition of a source: where the old version was, and where the new one begins."""

    source: str
    topic: str
    partition: int
    was: int | None
    to: int

    def shown(self) -> dict[str, Any]:
        """Return it as the contract lists a partition."""
        return {
            "source": self.source,
            "topic": self.topic,
            "partition": self.partition,
            "from": self.was,
            "to": self.to,
        }


@dataclass(frozen=True, slots=True)
class Begun:
    """Where all sources begin; `blockers` and `risks` are sentences, the rest as in `Found`.

    `again` are sources of files that are reprocessed, at least in part.
    """

    beginnings: list[Beginning] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    cut: list[TopicPart] = field(default_factory=list)
    within: list[TopicPart] = field(default_factory=list)
    again: list[SourcePosition] = field(default_factory=list)

    @property
    def files(self) -> int:
        """How many files are reprocessed, at most."""
        return sum(source.files for source in self.again)


def begin(
    takes: Iterable[Take],
    position: QueryPosition,
    target: Target,
    inspector: Inspector,
    only: Mapping[str, list[int]] | None = None,
) -> Begun:
    """Return where the sources begin in the current cluster state.

    `only` limits what moves to some topics, or partitions of them (an empty list: all of them);
    what doesn't move begins where the old version was. Then no source of files moves.
    """
    found = Begun()
    for take in takes:
        olds = [position.source(name) for name in take.of]
        known = [old for old in olds if old is not None]
        if len(known) < len(olds) or not known:
            names = ", ".join(s.name for s in position.sources) or "none"
            found.blockers.append(
                f"the checkpoint has no source {' or '.join(take.of)}. Its sources: {names}. Pass "
                "one of these with --source NEW=OLD"
            )
            continue
        match known[0].kind:
            case SourceKind.KAFKA if all(o.kind is SourceKind.KAFKA for o in known):
                _Kafka(found, take, known, target, only).go(inspector)
            case SourceKind.FILES if len(known) == 1:
                _files(found, take, known[0], target, only)
            case _:
                found.blockers.append(_unfit(known))
    over_all = Found(cut=found.cut, within=found.within)
    say_cut(over_all, target)
    found.blockers.extend(over_all.blockers)
    found.risks.extend(over_all.risks)
    return found


def _unfit(olds: list[SourcePosition]) -> str:
    if len(olds) > 1:
        return (
            f"sources {', '.join(o.name for o in olds)} can't be merged: Headgate merges "
            "only Kafka sources. Pass one old source per new source with --source NEW=OLD"
        )
    return (
        f"source {olds[0].name} is neither Kafka nor files, so Headgate can't set its start in a "
        "new checkpoint. If all sources may start over, use `headgate plan from-scratch`"
    )


def _files(
    found: Begun,
    take: Take,
    old: SourcePosition,
    target: Target,
    only: Mapping[str, list[int]] | None,
) -> None:
    same = Beginning(name=take.name, files_of=old.name, entry=old.entry)
    if only and target.place is not TargetKind.LISTED:
        found.beginnings.append(same)
        found.risks.append(
            f"source {old.name} reads files, and --topic selects only topics: the new checkpoint "
            "keeps the source's position"
        )
        return
    match target.place:
        case TargetKind.BEGINNING:
            found.again.append(old)
        case TargetKind.TIME:
            found.again.append(old)
            found.beginnings.append(
                Beginning(name=take.name, files_of=old.name, entry=old.entry, before=target.at)
            )
            found.risks.append(
                f"source {old.name} reprocesses only files that still exist and were modified "
                "since the given time. Older files are left out, even if they contain later rows"
            )
        case TargetKind.END:
            found.blockers.append(
                f"source {old.name} reads files, and Headgate can't skip unread files. Pass "
                "--to-current, --to-earliest or --to-datetime instead of --to-latest"
            )
        case _:
            found.beginnings.append(same)
            if target.place is not TargetKind.CURRENT:
                found.risks.append(
                    f"source {old.name} reads files, which have no offsets: the new checkpoint "
                    "keeps the source's position"
                )


class _Kafka:
    """Finds the beginning of one Kafka source."""

    def __init__(
        self,
        found: Begun,
        take: Take,
        olds: list[SourcePosition],
        target: Target,
        only: Mapping[str, list[int]] | None,
    ) -> None:
        self.found, self.take, self.target, self.only = found, take, target, only
        self.at: dict[TopicPart, int] = {}
        for old in olds:
            for topic, parts in old.offsets.items():
                if take.topics is None or topic in take.topics:
                    self._add({(topic, number): offset for number, offset in parts.items()})

    def _add(self, offsets: Mapping[TopicPart, int]) -> None:
        for part, offset in offsets.items():
            if self.at.setdefault(part, offset) != offset:
                self.found.blockers.append(
                    f"two sources have different offsets for {part[0]}[{part[1]}] "
                    f"({self.at[part]} and {offset}), so Headgate can't merge them. Pass only one "
                    "of these sources with --source NEW=OLD"
                )

    def go(self, inspector: Inspector) -> None:
        """Read the logs, if there is a cluster, and add what was found."""
        found = self._found(inspector) if inspector.kafka.has_cluster() else {}
        begins = self.at | found
        if not inspector.kafka.has_cluster() and self.target.place is not TargetKind.CURRENT:
            self.found.blockers.append(
                "no Kafka cluster is configured, so the offsets can't be looked up: set "
                "bootstrap_servers under [kafka]"
            )
        offsets: dict[str, dict[int, int]] = {}
        for (topic, number), to in sorted(begins.items()):
            offsets.setdefault(topic, {})[number] = to
            self.found.ways.append(
                Way(
                    source=self.take.name,
                    topic=topic,
                    partition=number,
                    was=self.at.get((topic, number)),
                    to=to,
                )
            )
        if offsets:
            self.found.beginnings.append(Beginning(name=self.take.name, offsets=offsets))

    def _found(self, inspector: Inspector) -> dict[TopicPart, int]:
        topics = inspector.kafka.topics(sorted({topic for topic, _ in self.at}))
        self._leave_out_missing(topics)
        moving = [part for part in self._parts(topics) if self._moves(part)]
        staying = [part for part in self.at if part not in set(moving)]
        to: dict[TopicPart, int] = {}
        for target, parts in ((self.target, moving), (CARRY, staying)):
            found = find(target, inspector, topics, parts, self.at, are_all=False, unset=OF_QUERY)
            self.found.cut.extend(found.cut)
            self.found.within.extend(found.within)
            self.found.blockers.extend(found.blockers)
            self.found.risks.extend(found.risks)
            to |= found.to
        return to

    def _leave_out_missing(self, topics: Mapping[str, Topic]) -> None:
        """Refuse offsets of partitions that the topic doesn't have: Spark would fail at them."""
        for name, missing in missing_parts(self.at, topics).items():
            known = sum(topic == name for topic, _ in self.at)
            self.found.blockers.append(
                f"the checkpoint has offsets of {plural(known, 'partition')} of {name}, but the "
                f"topic has only {numbers_of(topics[name])}. It lacks "
                f"{name_list(f'{name}[{number}]' for _, number in missing)}: the topic was "
                "recreated, or this is another cluster. To reprocess the records of this topic, "
                "use `headgate plan from-scratch`"
            )
            for part in missing:
                del self.at[part]

    def _parts(self, topics: Mapping[str, Topic]) -> list[TopicPart]:
        """Return the partitions to check; a new one is read from its beginning anyway."""
        if self.target.place in (TargetKind.CURRENT, TargetKind.SHIFT):
            return sorted(self.at)
        there = {(t.name, p.number) for t in topics.values() for p in t.partitions}
        if self.target.place is TargetKind.LISTED:
            there = {(row.topic, row.partition) for row in self.target.listed}
            there = {part for part in there if part[0] in topics}
        return sorted(there)

    def _moves(self, part: TopicPart) -> bool:
        if not self.only:
            return True
        return part[0] in self.only and (not self.only[part[0]] or part[1] in self.only[part[0]])


def impact(ways: Iterable[Way], topics: Mapping[str, Topic]) -> dict[str, Any]:
    """Return by topic how many offsets are reprocessed, skipped unread, and left to read."""
    again = dict.fromkeys(sorted(topics), 0)
    skipped, to_read = dict(again), dict(again)
    never: list[str] = []
    logs = {(t.name, p.number): p for t in topics.values() for p in t.partitions}
    for way in ways:
        log = logs.get((way.topic, way.partition))
        if log is None:
            continue
        end = log.end if log.end is not None else way.to
        was = way.was if way.was is not None else log.begin or 0
        again[way.topic] += max(min(was, end) - way.to, 0)
        # What a query has read whose offset is beyond the log is not known: nothing, at least.
        least = was if was <= end else log.begin or 0
        if way.to > least:
            skipped[way.topic] += way.to - least
            never.append(span((way.topic, way.partition), least, way.to))
        to_read[way.topic] += max(end - way.to, 0)
    return {
        "records": again,
        "total": sum(again.values()),
        "skipped": {name: count for name, count in skipped.items() if count},
        "to_read": to_read,
        **({"never_read": never} if never else {}),
    }
