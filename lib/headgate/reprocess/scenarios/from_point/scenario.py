"""From an offset or time: restart at a time, an offset, or another group's offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from headgate.errors import ScenarioError
from headgate.model.restore_points import RestorePoint
from headgate.model.version import Engine
from headgate.reprocess.conditions import CHECKPOINT, KAFKA_OR_FILES, PASSES_LOCATION
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import SUPPORTED, Kind, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.from_point import kafka_streams as from_point_streams
from headgate.reprocess.scenarios.from_point import spark as from_point_spark
from headgate.reprocess.scenarios.from_point.risks import (
    RISKS,
    STORES_EMPTY,
    STORES_KEPT,
    left_out_risks,
    unknown_risks,
)
from headgate.reprocess.scenarios.shared import kafka_streams_options
from headgate.reprocess.scenarios.shared.consumer_group_offsets import OffsetsRequest, move_group
from headgate.reprocess.scenarios.shared.pipeline_links import is_internal, topics_read
from headgate.reprocess.scenarios.shared.recreated_topics import (
    OldOffsets,
    RecreatedTopics,
    known_topics,
    recreated_topics,
)
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.offsets.target import (
    TARGET_RISKS,
    Listed,
    Silent,
    Target,
    TargetKind,
    read_rows,
)
from headgate.text.numbers import name_list
from headgate.text.risk import Risk
from headgate.text.times import ago, iso, milliseconds, moment

_POINT = "point"
_RESTORE_POINT = "restore-point"
_POINTS = {
    "to-earliest": TargetKind.BEGINNING,
    "to-latest": TargetKind.END,
    "to-current": TargetKind.CURRENT,
}


def build(request: PlanRequest) -> Plan:
    """Return the plan; a duration ago is a time from here on, so that the plan stays the same."""
    if (id := request.options.get(_RESTORE_POINT)) is not None:
        return _of_point(request, str(id))
    _refuse_without_time(request.options)
    risks = left_out_risks(request)
    plan = _of_offsets(resolved(request))
    return replace(plan, risks=(*plan.risks, *risks)) if plan.steps else plan


def _refuse_without_time(options: Mapping[str, Any]) -> None:
    """Refuse what says how a time is looked up, and would do nothing with another point."""
    named = [name for name in ("no-record", "past-retention") if name in options]
    if named and not {"to-datetime", "by-duration"} & options.keys():
        raise ScenarioError(
            f"from-point: --{named[0]} has an effect only with --to-datetime or --by-duration: "
            f"omit --{named[0]}"
        )


def _of_offsets(request: PlanRequest) -> Plan:
    if request.pipeline.engine is Engine.KAFKA_STREAMS:
        return from_point_streams.build(request, target_of(request))
    only = _only(request.options.get("topic", ()))
    if request.pipeline.engine is Engine.SPARK:
        return _spark(request, target_of(request), only)
    topics = tuple(sorted(only))
    target = target_of(request)
    if target.place is TargetKind.LISTED:
        if topics:
            raise ScenarioError(
                "from-point: omit --topic, because a list of offsets already has the topics"
            )
        topics, only = _of_list(target.listed)
    chosen = {name: numbers for name, numbers in only.items() if numbers}
    return move_group(request, OffsetsRequest(target=target, topics=topics, only=chosen))


def _of_point(request: PlanRequest, id: str) -> Plan:
    """Return the plan of the offsets that a restore point has; its time and state are named."""
    name, points = request.pipeline.name, request.points(request.pipeline.name)
    point = next((p for p in points if p.id == id), None)
    if point is None:
        if not points:
            return request.block(
                f"{name} has no restore point {id}. Set [restore_points] in headgate.toml to "
                "create restore points"
            )
        known = name_list([p.id for p in reversed(points)])
        return request.block(f"{name} has no restore point {id}; restore points: {known}")
    rows = [
        f"{topic},{number},{offset}"
        for topic, parts in sorted(point.offsets.items())
        if not is_internal(topic, request.pipeline)
        for number, offset in sorted(parts.items())
    ]
    options = {k: v for k, v in request.options.items() if k != _RESTORE_POINT}
    plan = build(replace(request, options=options | {"to-offsets": rows}))
    # The id stays: the plan is built again from it, and a point never changes.
    risks = unknown_risks(request, point) if plan.steps else ()
    recreated = _recreated(request, point) if plan.steps else RecreatedTopics()
    plan = replace(
        plan,
        options=dict(request.options),
        risks=(*recreated.risks, *plan.risks, *risks),
        blockers=(*plan.blockers, *recreated.blockers),
    )
    if not plan.steps or request.pipeline.engine is not Engine.KAFKA_STREAMS:
        return plan
    is_kept = kafka_streams_options.KEEP_INTERNAL.name in request.options
    risk = (STORES_KEPT if is_kept else STORES_EMPTY)(id=id, time=point.made_at)
    return replace(plan, risks=(*plan.risks, risk))


def _recreated(request: PlanRequest, point: RestorePoint) -> RecreatedTopics:
    """Return whether the offsets of a restore point are of older topics."""
    offsets = {(t, n): at for t, parts in point.offsets.items() for n, at in parts.items()}
    at = milliseconds(moment(point.made_at, option="made_at")) if point.made_at else None
    old = OldOffsets(name=f"restore point {point.id}", offsets=offsets, at_ms=at)
    topics = request.inspector.kafka.topics(point.offsets)
    return recreated_topics(request.inspector, topics, old, known_topics(None, point))


def _spark(request: PlanRequest, target: Target, only: dict[str, list[int]]) -> Plan:
    if target.place is TargetKind.LISTED:
        if only:
            raise ScenarioError(
                "from-point: omit --topic, because a list of offsets already has the topics"
            )
        _, only = _of_list(target.listed)
    return from_point_spark.build(request, target, only)


def resolved(request: PlanRequest) -> PlanRequest:
    """Return the question with what is relative resolved: so long ago, where another group is."""
    options = dict(request.options)
    if (span := options.pop("by-duration", None)) is not None:
        options["to-datetime"] = iso(ago(span, option="by-duration"))
    if (name := options.pop("from-pipeline", None)) is not None:
        options["to-offsets"] = _rows_of_pipeline(request, name)
    if (group := options.pop("from-group", None)) is not None:
        options["to-offsets"] = _rows_of_group(request, group)
    return replace(request, options=options)


def _rows_of_pipeline(request: PlanRequest, name: str) -> list[str]:
    """Return the other query's offsets of what the pipeline reads; of all if that is unknown."""
    found = from_point_spark.offsets_of_pipeline(name, request.inspector)
    read = topics_read(request)
    rows = [row for row in found if not read or row.split(",")[0] in read]
    if not rows:
        raise ScenarioError(
            f"--from-pipeline: the checkpoint of {name} has no offsets of the topics that "
            f"{request.pipeline.name} reads ({name_list(read)}). Pass another pipeline"
        )
    return rows


def _rows_of_group(request: PlanRequest, group: str) -> list[str]:
    """Return the other group's offsets of what the pipeline reads; of all where that is unknown."""
    commits = committed(request.inspector, group)
    if not commits:
        raise ScenarioError(
            f"--from-group: group {group} has no committed offsets. Check the name of the group"
        )
    read = topics_read(request) or {topic for topic, _ in commits}
    rows = [
        f"{topic},{number},{commit.offset}"
        for (topic, number), commit in sorted(commits.items())
        if topic in read
    ]
    if not rows:
        raise ScenarioError(
            f"--from-group: group {group} has no committed offsets of the topics that "
            f"{request.pipeline.name} reads ({name_list(read)}). Check the name of the group"
        )
    return rows


def target_of(request: PlanRequest) -> Target:
    """Return the requested point; ScenarioError if there is none."""
    options = request.options
    for name, place in _POINTS.items():
        if name in options:
            return Target(place=place)
    if (at := options.get("to-datetime")) is not None:
        when = milliseconds(moment(at, option="to-datetime"))
        silent = Silent(options.get("no-record", Silent.ASK))
        cut = options.get("past-retention", False)
        return Target(place=TargetKind.TIME, at=when, silent=silent, past_retention=cut)
    if (offset := options.get("to-offset")) is not None:
        return Target(place=TargetKind.OFFSET, offset=offset)
    if (by := options.get("shift-by")) is not None:
        return Target(place=TargetKind.SHIFT, by=by)
    if (rows := options.get("to-offsets")) is not None:
        return Target(place=TargetKind.LISTED, listed=read_rows(rows, option="to-offsets"))
    raise ScenarioError("from-point needs a point, such as --to-earliest or --to-datetime")


def _only(given: Iterable[str]) -> dict[str, list[int]]:
    """Read `TOPIC` and `TOPIC:0,2`; a topic without numbers means all of its partitions."""
    only: dict[str, list[int]] = {}
    for text in given:
        topic, colon, numbers = text.partition(":")
        cells = [cell.strip() for cell in numbers.split(",")] if colon else []
        if not topic or not all(c.isascii() and c.isdecimal() for c in cells):
            raise ScenarioError(f"--topic: expected TOPIC or TOPIC:0,2, found {text!r}")
        only[topic] = sorted({*only.get(topic, []), *map(int, cells)})
    return only


def _of_list(listed: Iterable[Listed]) -> tuple[tuple[str, ...], dict[str, list[int]]]:
    only: dict[str, Any] = {}
    for row in listed:
        only.setdefault(row.topic, []).append(row.partition)
    return tuple(sorted(only)), only


OPTIONS = (
    Option(
        name="to-datetime",
        ask="Time",
        help=(
            "Start at the first record at or after this time in every partition (default zone: "
            "UTC)."
        ),
        metavar="TIME",
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="by-duration",
        ask="Duration before now",
        help="Time to start at, as a duration before now: PT2H, P1D or 1d2h.",
        metavar="DURATION",
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="shift-by",
        ask="Shift by N records (negative: earlier)",
        help="Shift offsets by N records; a negative N rewinds. Offsets stay between the earliest "
        "and the latest offset.",
        kind=Kind.NUMBER,
        metavar="N",
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="to-offset",
        ask="Same offset in every partition",
        help="Offset to start at in every partition. If a partition doesn't have this offset, "
        "the plan is blocked.",
        kind=Kind.NUMBER,
        metavar="N",
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="to-earliest",
        ask="Earliest offset",
        help="Start at the earliest offset of every partition.",
        kind=Kind.FLAG,
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="to-latest",
        ask="Latest offset",
        help="Start at the latest offset of every partition: unread records are skipped.",
        kind=Kind.FLAG,
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="to-current",
        ask="Current offset",
        help="Keep the current offset of every partition. Headgate only verifies that the "
        "offset still exists.",
        kind=Kind.FLAG,
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="to-offsets",
        ask="Offset of each partition",
        help="Offsets to start at, one row per partition; other partitions keep their offsets.",
        kind=Kind.MANY,
        metavar="TOPIC,PARTITION,OFFSET",
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="from-file",
        ask="File of offsets",
        help="File with rows TOPIC,PARTITION,OFFSET, as for `kafka-consumer-groups --from-file`.",
        kind=Kind.FILE,
        metavar="FILE",
        rows_of="to-offsets",
        one_of=_POINT,
        required=True,
    ),
    Option(
        name="from-group",
        ask="Offsets of another consumer group",
        help="Start at the committed offsets of this other consumer group.",
        metavar="GROUP",
        one_of=_POINT,
        required=True,
    ),
    Option(
        name=_RESTORE_POINT,
        ask="Offsets of a restore point",
        help="Restore point id: start at the offsets of this restore point. `headgate "
        "restore-points` lists the ids.",
        metavar="ID",
        one_of=_POINT,
        required=True,
        engines=frozenset({Engine.CONSUMER_GROUP, Engine.KAFKA_STREAMS}),
    ),
    Option(
        name="no-record",
        ask="Partitions without a record at or after the time",
        help="If a partition has no record at or after the time: start at its latest offset "
        "(end), or keep its offset (leave). Default: the plan is blocked.",
        kind=Kind.CHOICE,
        choices=(Silent.END.value, Silent.LEAVE.value),
        after=("to-datetime", "by-duration"),
    ),
    Option(
        name="past-retention",
        ask="Start later if records at the time are past retention",
        help="If records at the chosen time may be past retention in a partition, start at the "
        "first remaining record of the partition (default: the plan is blocked).",
        kind=Kind.FLAG,
        after=("to-datetime", "by-duration"),
    ),
    Option(
        name="topic",
        ask="Topics or partitions (default: all)",
        help="Change offsets only in this topic, or only in these partitions of the topic. Can be "
        "repeated.",
        kind=Kind.MANY,
        metavar="TOPIC[:0,2]",
        engines=frozenset({Engine.CONSUMER_GROUP, Engine.SPARK}),
    ),
    *from_point_spark.OPTIONS,
    *kafka_streams_options.OPTIONS,
)


def risks() -> tuple[Risk, ...]:
    """Return the risks of all engines, whose modules are imported here."""
    from headgate.reprocess.scenarios.shared import (
        consumer_group_offsets,
        kafka_streams_reset_checks,
        source_mapping,
        start_from_offsets,
    )

    return (
        *RISKS,
        *TARGET_RISKS,
        *source_mapping.RISKS,
        *start_from_offsets.RISKS,
        *consumer_group_offsets.RISKS,
        *kafka_streams_reset_checks.RISKS,
    )


SCENARIO = Scenario(
    name="from-point",
    title="From an offset or time",
    short="Restart at a time, at offsets or where a group is.",
    what="Restart at a time, an offset, offsets from a file, or another group's offsets.",
    build=build,
    steps=(
        "create_checkpoint",
        "create_remote_checkpoint",
        "stop_pipeline",
        "verify_output",
        "snapshot_checkpoint",
        "record_offsets",
        "reset_offsets",
        "switch_checkpoint",
        "start_at_checkpoint",
        "start_pipeline",
        "manual_step",
        "back_up_records",
        "delete_topics",
        "back_up_unread_records",
        "await_transactions",
        "clear_local_state",
        "swap_new_checkpoint",
    ),
    risks=risks,
    options=OPTIONS,
    support={
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.SPARK: needs(
            CHECKPOINT,
            KAFKA_OR_FILES,
            PASSES_LOCATION,
            note="The query starts at the chosen offset or time with empty state.",
        ),
        Engine.KAFKA_STREAMS: SUPPORTED,
    },
)
