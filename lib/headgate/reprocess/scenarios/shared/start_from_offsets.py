"""Start a Spark query with a new checkpoint at chosen offsets; shared by several scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from headgate.model.cluster import Topic
from headgate.model.sinks import BatchIds
from headgate.model.version import Version
from headgate.reprocess import remote_checkpoint
from headgate.reprocess.checkpoint.source_offsets import QueryPosition
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common, lost_state, new_output
from headgate.reprocess.scenarios.shared.lost_state import LostState, state_risks
from headgate.reprocess.scenarios.shared.recreated_topics import (
    RECREATED_RISKS,
    OldOffsets,
    RecreatedTopics,
    known_topics,
    recreated_topics,
)
from headgate.reprocess.scenarios.shared.uncounted_input import uncounted_input
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.checkpoint.create import (
    CreateCheckpoint,
    InstallNewCheckpoint,
    RehearseNewCheckpoint,
    SwapNewCheckpoint,
)
from headgate.reprocess.steps.checkpoint.create_remote import CreateRemoteCheckpoint
from headgate.reprocess.steps.checkpoint.source_succession import Begun, Take, begin, impact
from headgate.reprocess.steps.offsets.target import (
    Target,
    TargetKind,
    TopicPart,
    cut_risks,
)
from headgate.reprocess.steps.process.stop_start import ManualStep, start_or_ask
from headgate.text.numbers import as_records, name_list
from headgate.text.risk import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """Where to begin and with what; `only` limits what moves, see `succession.begin`.

    `to` is a location for the new checkpoint, None: that of the old one. `new_output` says that the
    new version writes somewhere else. `before` are steps between the stop and the new checkpoint.
    `rehearse` has the registered function started on a copy before anything is replaced.
    """

    target: Target
    takes: tuple[Take, ...]
    only: Mapping[str, list[int]] = field(default_factory=dict)
    to: str | None = None
    new_output: bool = False
    rehearse: bool = False
    before: tuple[Step, ...] = ()
    blockers: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()


def found_query(request: PlanRequest) -> tuple[Checkpoint, QueryPosition] | Plan:
    """Return the old checkpoint and where its sources are, or a plan that says why not."""
    location = request.pipeline.checkpoint
    found = request.inspector.checkpoints.read(location) if location else None
    position = (
        request.inspector.checkpoints.query_position(location) if location and found else None
    )
    if found is None or position is None:
        return request.block(common.no_checkpoint(request.pipeline))
    if not position.sources:
        return request.block(
            f"checkpoint {found.location} has no sources: the query never started. Start the "
            "query once"
        )
    return found, position


def start_from_offsets(
    request: PlanRequest, found: Checkpoint, position: QueryPosition, wish: StartRequest
) -> Plan:
    """Return the plan: stop, make the new checkpoint beside, put it in place, start."""
    inspector, pipeline = request.inspector, request.pipeline
    begun = begin(wish.takes, position, wish.target, inspector, wish.only)
    names = sorted({way.topic for way in begun.ways}) if inspector.kafka.has_cluster() else []
    topics = inspector.kafka.topics(names) if names else {}
    place = remote_checkpoint.new_place(inspector, pipeline) if found.remote else None
    make = (CreateRemoteCheckpoint if found.remote else CreateCheckpoint)(
        pipeline=pipeline.name,
        checkpoint=found.location,
        query_id=found.query_id,
        place=place or wish.to or found.location,
        takes=wish.takes,
        target=wish.target,
        topics=topic_facts(topics),
        only=dict(wish.only),
        offsets=tuple(way.shown() for way in begun.ways),
    )
    lost = _lost(request, found, position, wish)
    recreated = _recreated(request, found, position, wish, begun, topics)
    risks = [*wish.risks, *recreated.risks]
    risks += _risks(request, position, wish, begun, topics, lost)
    if place is not None:
        risks += remote_checkpoint.risks(pipeline, found, place)
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(request, found, wish, make),
        preconditions={
            **({"cluster_id": inspector.kafka.cluster_id()} if names else {}),
            "topics": make.topics,
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "sources": {s.name: s.kind.value for s in position.sources},
            "commands": common.command_facts(pipeline),
        },
        impact={
            **impact(begun.ways, topics),
            "uncounted": uncounted_input(files=begun.files),
            "open_state": list(lost.rows),
        },
        risks=tuple(dict.fromkeys(risks)),
        blockers=tuple(
            dict.fromkeys(
                (
                    *_blockers(request, found, wish, begun, names, topics),
                    *recreated.blockers,
                )
            )
        ),
        options=dict(request.options),
        resources=tuple(f"checkpoint:{p}" for p in {found.location: 0, make.place: 0}),
    )


def _steps(
    request: PlanRequest, found: Checkpoint, wish: StartRequest, make: CreateCheckpoint
) -> tuple[Step, ...]:
    stop = common.stop_step(request.pipeline, checkpoint=found.location)
    what = {
        "pipeline": make.pipeline,
        "checkpoint": make.checkpoint,
        "query_id": make.query_id,
    }
    rehearsal: tuple[Step, ...] = ()
    if wish.rehearse and (function := request.pipeline.entry_point):
        rehearsal = (
            RehearseNewCheckpoint(
                pipeline=make.pipeline,
                place=make.place,
                entry_point=function,
                made=found.remote,
            ),
        )
    look = new_output.verify_output(request, found, make.place)
    if found.remote:
        lead = remote_checkpoint.switch_and_start(stop, found, make.place, fresh=True, made=True)
        return (stop, *wish.before, make, *rehearsal, *lead, *look)
    if wish.to is None:
        start = start_or_ask(stop, fresh=True)
        snapshot = common.snapshot_step(request.inspector, **what)
        place = SwapNewCheckpoint(**what)
        return (stop, *wish.before, snapshot, make, *rehearsal, place, start, *look)
    offer = InstallNewCheckpoint(pipeline=make.pipeline, place=make.place)
    ask = ManualStep(
        pipeline=make.pipeline,
        request=f"start the new version of {make.pipeline} with checkpointLocation {make.place}",
        waits=stop.command is not None,
        reenable_first=False,
        stop=stop.command,
        has_status=stop.has_status,
        checkpoint=make.place,
        fresh=True,
        suspend=stop.suspend,
        reenable=stop.reenable,
    )
    return (stop, *wish.before, make, *rehearsal, offer, ask, *look)


def _blockers(
    request: PlanRequest,
    found: Checkpoint,
    wish: StartRequest,
    begun: Begun,
    names: list[str],
    topics: Mapping[str, Topic],
) -> list[str]:
    blockers = [*common.must_be_stopped(request.pipeline, request.inspector), *wish.blockers]
    blockers += begun.blockers
    blockers += common.shared_checkpoint(request.pipeline, request.inspector)
    blockers += common.topic_blockers(set(names), topics)
    if found.remote:
        blockers += remote_checkpoint.blockers(request.pipeline)
    elif wish.to is None and found.fixed:
        blockers.append(f"Headgate can't replace checkpoint {found.location}: {found.fixed}")
    if wish.rehearse and request.pipeline.entry_point is None:
        blockers.append(
            "--rehearse: headgate.toml sets no `entry_point` for this pipeline. Add it, or omit "
            "--rehearse"
        )
    if wish.to is not None and found.remote:
        blockers.append(
            "--to: omit this option. On a remote file system, Headgate stores a new checkpoint "
            "next to the old checkpoint, which is kept"
        )
    elif wish.to is not None:
        blockers += _bad_place(wish.to, found.location, request.inspector)
    blockers += new_output.output_blockers(request, found)
    if not wish.new_output:
        blockers += common.skipped_batches(
            request.version,
            "A query with a new checkpoint starts at batch 0, so its results would be silently "
            "dropped. Let the query write to another folder, and pass --new-output --output-path "
            "FOLDER",
        )
    return blockers


def _recreated(
    request: PlanRequest,
    found: Checkpoint,
    position: QueryPosition,
    wish: StartRequest,
    begun: Begun,
    topics: Mapping[str, Topic],
) -> RecreatedTopics:
    """Return whether the offsets that the new checkpoint keeps or shifts are of older topics."""
    keeps_all = wish.target.place in (TargetKind.CURRENT, TargetKind.SHIFT)
    at = {(way.topic, way.partition): way.was for way in begun.ways if way.was is not None}
    kept = {part[0] for part in at if keeps_all or not _moves(wish, part)}
    if not kept or not topics:
        return RecreatedTopics()
    batches = request.inspector.checkpoints.batches(found.location)
    planned = next((b.planned_ms for b in batches if b.number == position.batch), None)
    # Also a partition that moves shows that its topic was recreated.
    old = OldOffsets(name=f"batch {position.batch}", offsets=at, at_ms=planned)
    named = {name: topic for name, topic in topics.items() if name in kept}
    return recreated_topics(request.inspector, named, old, known_topics(request.version))


def _bad_place(to: str, old: str, inspector: Inspector) -> list[str]:
    place = PurePosixPath(to)
    if not place.is_absolute():
        return [f"--to: expected an absolute path, found {to!r}"]
    if place == PurePosixPath(old) or PurePosixPath(old) in place.parents:
        return [f"--to: {to} is the old checkpoint, or is inside it. Choose another location"]
    if inspector.checkpoints.read(to) is not None:
        return [f"--to: a checkpoint already exists at {to}. Choose another location"]
    return []


def _lost(
    request: PlanRequest, found: Checkpoint, position: QueryPosition, wish: StartRequest
) -> LostState:
    continues = wish.target.place is TargetKind.CURRENT
    point = None if continues else "the starting offset"
    return state_risks(request.inspector, found.location, position, request.version, point=point)


WRITTEN_TWICE = Risk(
    "{pipeline} writes results of reprocessed records a second time: consumers get "
    "duplicates, unless the sink overwrites by key"
)
SKIPPED = Risk(
    "{pipeline} skips {records}: {spans}",
    records="up to N records",
    spans="TOPIC[PARTITION] offsets FIRST to LAST",
)
BATCH_UNCOMMITTED = Risk(
    "batch {batch} is uncommitted, and its input is reprocessed: if the sink already has rows "
    "of this batch, it gets these rows a second time",
    batch="N",
)
NO_CLUSTER = Risk(
    "no Kafka cluster is configured: Headgate can't check whether the offsets still exist. "
    "Set `bootstrap_servers` under [kafka]"
)


def _risks(
    request: PlanRequest,
    position: QueryPosition,
    wish: StartRequest,
    begun: Begun,
    topics: Mapping[str, Topic],
    lost: LostState,
) -> list[str]:
    risks = [*begun.risks, *lost.risks]
    ways = {(way.topic, way.partition): way for way in begun.ways}
    moving = [p for p in ways if _moves(wish, p)]
    risks += cut_risks(wish.target, moving, ways)
    counted = impact(begun.ways, topics)
    back = {name for name, count in counted["records"].items() if count}
    if back:
        risks += common.topic_risks({name: t for name, t in topics.items() if name in back})
        starts = {part: way.to for part, way in ways.items()}
        risks += common.catch_up_risks(request.version, common.unread_parts(topics, starts))
    if (back or begun.files) and not wish.new_output:
        risks.append(WRITTEN_TWICE(pipeline=request.pipeline.name))
    if skipped := sum(counted["skipped"].values()):
        spans = name_list(counted["never_read"])
        risks.append(
            SKIPPED(pipeline=request.pipeline.name, records=as_records(skipped), spans=spans)
        )
    if position.begun is not None and not wish.new_output and _is_repeated(begun):
        risks.append(BATCH_UNCOMMITTED(batch=position.begun))
    if begun.ways and not request.inspector.kafka.has_cluster():
        risks.append(NO_CLUSTER())
    return [*risks, *_sink_risks(request.version, wish), *new_output.output_risks(request)]


def _is_repeated(begun: Begun) -> bool:
    """Whether anything after the last committed batch is read, as far as is known."""
    return not begun.ways or any(way.was is None or way.to <= way.was for way in begun.ways)


def _moves(wish: StartRequest, part: TopicPart) -> bool:
    topic, number = part
    if wish.target.place is TargetKind.LISTED:
        return part in {(row.topic, row.partition) for row in wish.target.listed}
    return not wish.only or (topic in wish.only and number in (wish.only[topic] or [number]))


BATCHES_FROM_ZERO = Risk(
    "the new query has a new id and numbers its batches from 0. A sink that deduplicates only "
    "by batch number (for example in foreachBatch) drops new results"
)


def _sink_risks(version: Version | None, wish: StartRequest) -> list[str]:
    known = version.sink.traits.batch_ids if version and version.sink else BatchIds.UNKNOWN
    if wish.new_output or known in (BatchIds.WRITES, BatchIds.DROPS_OF_QUERY):
        return []
    return [BATCHES_FROM_ZERO()]


RISKS = (
    *RECREATED_RISKS,
    *lost_state.RISKS,
    *common.TOPIC_RISKS,
    *common.CATCH_UP_RISKS,
    WRITTEN_TWICE,
    SKIPPED,
    BATCH_UNCOMMITTED,
    NO_CLUSTER,
    BATCHES_FROM_ZERO,
    new_output.FOLDER_UNCHECKED,
    *remote_checkpoint.RISKS,
)
