"""Repair of a consumer group: committed offsets that are out of range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from headgate.model.activity import Position
from headgate.model.cluster import Topic
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.repair import repair_transactions
from headgate.reprocess.scenarios.shared import common, consumer_group_offsets
from headgate.reprocess.scenarios.shared.consumer_group_offsets import OffsetsRequest, move_group
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import (
    OFFSETS_KEPT,
    Listed,
    Target,
    TargetKind,
    TopicPart,
)
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

BEGINNING = "beginning"
"""The answer to `--beyond` that says that the topic was recreated."""
LAST_KNOWN = "last-known"
"""The answer to `--beyond` that takes a group to where it was seen last."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Astray:
    """Partitions by what is wrong with their offset, each with where its log begins and ends."""

    below: dict[TopicPart, tuple[int, int]] = field(default_factory=dict)
    beyond: dict[TopicPart, tuple[int, int]] = field(default_factory=dict)

    @property
    def topics(self) -> set[str]:
        """The topics of which an offset is beyond the log: these may have been recreated."""
        return {topic for topic, _ in self.beyond}


def build(request: PlanRequest) -> Plan:
    """Return the plan: the partitions move whose offset is not within their log.

    If a topic was recreated, all its committed offsets are of the old topic, so all its partitions
    move.
    """
    group = request.pipeline.group
    assert group is not None
    positions = {part: c.offset for part, c in committed(request.inspector, group).items()}
    if not positions:
        return request.block(
            f"group {group} has no committed offsets, so there is nothing to repair. Check `group` "
            "in headgate.toml, or set offsets with from-point"
        )
    topics = request.inspector.kafka.topics({topic for topic, _ in positions})
    gone = sorted({topic for topic, _ in positions} - topics.keys())
    if named := request.options.get("abort-transaction", ()):
        return repair_transactions.build(request, topics, named)
    astray = _astray(positions, topics)
    if not astray.below and not astray.beyond:
        if unread := common.unread_logs(topics):
            return request.block(*unread)
        if waits := repair_transactions.blocking(request, topics):
            return request.block(f"the committed offsets of group {group} need no repair. {waits}")
        left = f". The group also has offsets of deleted topics: {', '.join(gone)}" if gone else ""
        return request.block(
            f"there is nothing to repair: every committed offset of group {group} is between "
            f"the earliest and the latest offset{left}"
        )
    beyond = str(request.options.get("beyond", ""))
    known = request.known(topics) if astray.beyond else {}
    if astray.beyond and not beyond:
        return request.block(_choices(astray, known))
    unknown = astray.beyond.keys() - known.keys()
    if beyond == LAST_KNOWN and unknown:
        return request.block(
            f"--beyond={LAST_KNOWN}: the last position in {_named(unknown)} is unknown. Choose "
            "--beyond=beginning or --beyond=end"
        )
    plan = _explained(move_group(request, _wish(astray, beyond, known)), astray, beyond, known)
    return _recreated(request, plan, astray) if beyond == BEGINNING else plan


RECREATED = Risk(
    f"--beyond={BEGINNING} means that "
    "{topics} {were} recreated. So the run also resets "
    "{partitions}, although the offsets there are in range. If only records were lost, "
    "{pipeline} processes records of {partitions} a second time. In that case, use "
    "--beyond=end",
    were="were",
    partitions="TOPIC[PARTITION]",
)


def _recreated(request: PlanRequest, plan: Plan, astray: _Astray) -> Plan:
    """Return the plan with what moves although its offset is within the log."""
    rows = [m for s in plan.steps if isinstance(s, ResetOffsets) for m in s.offsets]
    moved = {(m["topic"], m["partition"]) for m in rows if m["from"] not in (None, m["to"])}
    within = moved - astray.below.keys() - astray.beyond.keys()
    if not within:
        return plan
    verb = "was" if len(astray.topics) == 1 else "were"
    risk = RECREATED(
        topics=name_list(astray.topics),
        were=verb,
        partitions=_named(within),
        pipeline=request.pipeline.name,
    )
    return replace(plan, risks=(*plan.risks, risk))


def _choices(astray: _Astray, known: Mapping[TopicPart, Position]) -> str:
    """Say what --beyond can be, with the last known positions."""
    said = (
        "the committed offset in these partitions is after the latest offset: "
        f"{_named(astray.beyond)}. If the topic was recreated, choose --beyond=beginning: all its "
        "partitions then start at the earliest offset. If the newest records were lost, choose "
        "--beyond=end"
    )
    seen = [_seen(part, known[part]) for part in sorted(astray.beyond) if part in known]
    if not seen:
        return said
    return (
        f"{said}. To continue at the last known position, choose --beyond={LAST_KNOWN}: "
        f"{'; '.join(seen[:_SHOWN])}"
    )


def _seen(part: TopicPart, last: Position) -> str:
    return f"offset {last.offset} of {part[0]}[{part[1]}] ({last.at})"


LAST_KNOWN_POSITION = Risk(
    "last known position: {positions}. Headgate doesn't know which records the group has read "
    "since then",
    positions="offset N of TOPIC[PARTITION] (TIME)",
)
POSITION_UNKNOWN = Risk(
    "the last position in {partitions} is unknown: the group may {effect}",
    partitions="TOPIC[PARTITION]",
    effect="skip unread records, or reprocess records",
)


def _explained(
    plan: Plan, astray: _Astray, beyond: str, known: Mapping[TopicPart, Position]
) -> Plan:
    """Return the plan with how it is known what is reprocessed, or never read."""
    found = [_seen(part, known[part]) for part in sorted(astray.beyond) if part in known]
    unknown = astray.beyond.keys() - known.keys()
    risks = list(plan.risks)
    if found:
        risks.append(LAST_KNOWN_POSITION(positions="; ".join(found[:_SHOWN])))
    if unknown:
        effect = "skip unread records" if beyond == "end" else "reprocess records"
        risks.append(POSITION_UNKNOWN(partitions=_named(unknown), effect=effect))
    return replace(plan, risks=tuple(risks))


def _astray(positions: Mapping[TopicPart, int], topics: Mapping[str, Topic]) -> _Astray:
    found = _Astray()
    for topic in topics.values():
        for part in topic.partitions:
            key = (topic.name, part.number)
            at = positions.get(key)
            if at is None or part.begin is None or part.end is None:
                continue
            if at < part.begin:
                found.below[key] = (part.begin, part.end)
            elif at > part.end:
                found.beyond[key] = (part.begin, part.end)
    return found


def _wish(astray: _Astray, beyond: str, known: Mapping[TopicPart, Position]) -> OffsetsRequest:
    to_end = beyond == "end"
    read = {part: last.offset for part, last in known.items()}
    only: dict[str, list[int]] = {}
    whole = astray.topics if beyond == BEGINNING else set()
    for topic, number in sorted({*astray.below, *astray.beyond}):
        if topic not in whole:
            only.setdefault(topic, []).append(number)
    if astray.beyond and beyond == LAST_KNOWN:
        rows = [(part, begin) for part, (begin, _) in astray.below.items()]
        rows += [(part, read[part]) for part in astray.beyond]
        target = Target(place=TargetKind.LISTED, listed=_listed(rows))
    elif astray.below and astray.beyond and to_end:
        rows = [(part, begin) for part, (begin, _) in astray.below.items()]
        rows += [(part, end) for part, (_, end) in astray.beyond.items()]
        target = Target(place=TargetKind.LISTED, listed=_listed(rows))
    else:
        is_end = to_end and not astray.below
        target = Target(place=TargetKind.END if is_end else TargetKind.BEGINNING)
    topics = tuple(sorted({*only, *whole}))
    return OffsetsRequest(
        target=target, topics=topics, only=only, read=read, recreated=frozenset(whole)
    )


def _listed(rows: Iterable[tuple[TopicPart, int]]) -> tuple[Listed, ...]:
    return tuple(Listed(topic=t, partition=p, offset=o) for (t, p), o in sorted(rows))


def _named(parts: Iterable[TopicPart]) -> str:
    names = [f"{topic}[{number}]" for topic, number in sorted(parts)]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


RISKS = (
    RECREATED,
    LAST_KNOWN_POSITION,
    POSITION_UNKNOWN,
    OFFSETS_KEPT,
    *consumer_group_offsets.RISKS,
    *repair_transactions.RISKS,
)
