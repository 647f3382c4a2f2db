"""Records at the start of a plan's input that Kafka deleted after the plan was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headgate.model.cluster import Topic
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.offsets.target import Target, TargetKind
from headgate.text.numbers import as_records, name_list

EARLIEST_OFFSETS = "earliest"
"""The key of an impact with earliest offsets at which the pipeline starts, if no step has them."""
DELETED = "deleted_since_approval"
"""The key of an impact with the number of deleted records by topic."""

# Other targets are offsets that must exist, or the latest ones.
_STARTS = frozenset({TargetKind.BEGINNING, TargetKind.TIME, TargetKind.SHIFT})
_EARLIEST = Target(place=TargetKind.BEGINNING)
# The plan of earliest offsets names retention as a risk: this share of the records may expire.
_TOLERATED = 0.1
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a pipeline starts to read a partition; `was` is the offset that it had then."""

    target: Target
    was: int | None
    to: int | None

    @property
    def is_kept(self) -> bool:
        return self.was == self.to


@dataclass(frozen=True, slots=True)
class _Gap:
    """The planned offset of a partition, and the earliest offset now, which is after it."""

    topic: str
    partition: int
    planned: int
    begin: int
    is_earliest: bool

    def __str__(self) -> str:
        return (
            f"{self.topic}[{self.partition}] was to start at offset {self.planned}, but the "
            f"earliest offset is now {self.begin}"
        )


@dataclass(frozen=True, slots=True)
class DeletedRecords:
    """`differences` make the plan stale. `counts` are deleted records by topic, `risks` name them.

    The counts add up over all checks since the approval.
    """

    differences: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    risks: tuple[str, ...] = ()


def deleted_records(before: Plan, now: Plan, inspector: Inspector) -> DeletedRecords:
    """Return which records that the plan `before` starts with no longer exist.

    `now` is the same plan, built from the current state: it starts later, but its steps are equal.
    Kafka is asked only if a partition starts later.
    """
    later = dict(_later(before, now))
    counts = dict(before.impact.get(DELETED, {}))
    if not later:
        return DeletedRecords(counts=counts)
    topics = inspector.kafka.topics({topic for topic, _ in later})
    gaps = list(_gaps(later, topics))
    for gap in gaps:
        counts[gap.topic] = counts.get(gap.topic, 0) + gap.begin - gap.planned
    refused = [g for g in gaps if not _is_tolerated(g, counts[g.topic], topics[g.topic], later)]
    if refused:
        return DeletedRecords(differences=(_sentence(refused),), counts=counts)
    risks = tuple(
        f"since the plan was made, Kafka deleted {as_records(count)} of {topic}. The run starts "
        "at the earliest offset"
        for topic, count in sorted(counts.items())
    )
    return DeletedRecords(counts=counts, risks=risks)


def earliest_offsets(topics: Mapping[str, Topic]) -> dict[str, dict[str, int | None]]:
    """Return the earliest offset of each partition, as an impact keeps it."""
    return {n: {str(p.number): p.begin for p in t.partitions} for n, t in sorted(topics.items())}


def _sentence(gaps: list[_Gap]) -> str:
    lost = sum(g.begin - g.planned for g in gaps)
    more = f", and {len(gaps) - _SHOWN} more" if len(gaps) > _SHOWN else ""
    return (
        f"Kafka deleted {as_records(lost)} of {name_list({g.topic for g in gaps})} that the plan "
        f"starts with: {'; '.join(map(str, gaps[:_SHOWN]))}{more}"
    )


def _later(before: Plan, now: Plan) -> Iterator[tuple[tuple[str, int], _Start]]:
    """Yield the starts of a plan that are at a later offset now."""
    current = dict(_starts(now))
    for key, start in _starts(before):
        found = current.get(key)
        if found is None or found.to is None or start.to is None or found.to <= start.to:
            continue
        if start.is_kept and found.is_kept:
            # The pipeline has read on, and the run leaves it there.
            continue
        by = start.target.by
        if by is not None and found.was is not None and found.to <= found.was + by:
            continue
        yield key[1:], start


def _starts(plan: Plan) -> Iterator[tuple[tuple[int, str, int], _Start]]:
    """Yield where the plan's steps start, by position of the step, topic and partition."""
    for position, step in enumerate(plan.steps):
        target = getattr(step, "target", None)
        if isinstance(target, Target) and target.place in _STARTS:
            for row in plan.moves(step):
                key = (position, row["topic"], row["partition"])
                yield key, _Start(target, row.get("from"), row["to"])
    for topic, parts in plan.impact.get(EARLIEST_OFFSETS, {}).items():
        for number, begin in parts.items():
            yield (-1, topic, int(number)), _Start(_EARLIEST, None, begin)


def _gaps(later: Mapping[tuple[str, int], _Start], topics: Mapping[str, Topic]) -> Iterator[_Gap]:
    begins = {(t.name, p.number): p.begin for t in topics.values() for p in t.partitions}
    for (topic, number), start in sorted(later.items()):
        begin = begins.get((topic, number))
        if begin is not None and start.to is not None and start.to < begin:
            is_earliest = start.target.place is TargetKind.BEGINNING
            yield _Gap(topic, number, start.to, begin, is_earliest)


def _is_tolerated(
    gap: _Gap, lost: int, topic: Topic, later: Mapping[tuple[str, int], _Start]
) -> bool:
    """Return whether retention may have deleted so few records before the run.

    Each plan of an old topic would be stale else: retention deletes records all the time.
    """
    if not (gap.is_earliest and _expires(topic)):
        return False
    planned = sum(
        max((part.end or 0) - (start.to or 0), 0)
        for part in topic.partitions
        if (start := later.get((topic.name, part.number))) is not None
    )
    return lost <= planned * _TOLERATED


def _expires(topic: Topic) -> bool:
    """Return whether records of the topic expire, as far as its settings are known."""
    limits = (topic.retention_ms, topic.retention_bytes)
    return "delete" in (topic.cleanup_policy or "delete") and any(
        limit is None or limit >= 0 for limit in limits
    )
