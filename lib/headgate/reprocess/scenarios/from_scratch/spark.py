"""From scratch for a Spark query: an empty checkpoint; the old checkpoint is backed up."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.errors import EvidenceError
from headgate.model.cluster import Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Source, Version
from headgate.reprocess import remote_checkpoint
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.from_scratch.kafka_starts import (
    Start,
    Starts,
    kafka_sources,
    must_exist,
    read_topics,
    start_of,
    starting_offsets,
)
from headgate.reprocess.scenarios.shared import common, lost_state
from headgate.reprocess.scenarios.shared.lost_state import LostState, state_risks
from headgate.reprocess.scenarios.shared.uncounted_input import uncounted_input, uncounted_of
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.checkpoint.replace import ReplaceCheckpoint
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.text.numbers import name_list
from headgate.text.risk import Risk


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop, copy the checkpoint, replace it with a fresh one, start."""
    pipeline, inspector, version = request.pipeline, request.inspector, request.version
    found = inspector.checkpoints.read(pipeline.checkpoint) if pipeline.checkpoint else None
    if found is None:
        return request.block(common.no_checkpoint(pipeline))
    has_cluster = inspector.kafka.has_cluster()
    read = read_topics(version, found.offsets) if has_cluster else set()
    topics = inspector.kafka.topics(read) if read else {}
    starts = starting_offsets(inspector, version, topics)
    place = remote_checkpoint.new_place(inspector, pipeline) if found.remote else None
    lost = _lost(request, found, topics)
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(request, found, place),
        preconditions={
            **({"cluster_id": inspector.kafka.cluster_id()} if read else {}),
            "topics": topic_facts(topics),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "commands": common.command_facts(pipeline),
        },
        impact={
            **common.records_again(starts.topics, _positions(found)),
            "uncounted": [
                *uncounted_input(topics=starts.unknown),
                *uncounted_of(inspector, found),
            ],
            **({"open_state": list(lost.rows)} if lost.rows else {}),
        },
        risks=(
            *_risks(request, found, topics, starts),
            *(() if request.has_new_outputs else (_sink_risk(pipeline, version),)),
            *lost.risks,
            *(remote_checkpoint.risks(pipeline, found, place) if place else ()),
        ),
        blockers=tuple(_blockers(request, found, topics)),
        resources=tuple(f"checkpoint:{at}" for at in (found.location, place) if at),
    )


def _steps(request: PlanRequest, found: Checkpoint, place: str | None) -> tuple[Step, ...]:
    """Return the steps in order; nothing is copied where the old checkpoint is not touched."""
    pipeline = request.pipeline
    stop = common.stop_step(pipeline, checkpoint=found.location)
    if place is not None:
        return (
            stop,
            *remote_checkpoint.switch_and_start(stop, found, place, fresh=True, made=False),
        )
    what = {"pipeline": pipeline.name, "checkpoint": found.location, "query_id": found.query_id}
    start = start_or_ask(stop, fresh=True)
    snapshot = common.snapshot_step(request.inspector, **what)
    return (stop, snapshot, ReplaceCheckpoint(**what), start)


LOSS_UNKNOWN = Risk(
    "Unknown: Headgate can't determine which results are lost with the state: {error}"
)


def _lost(request: PlanRequest, found: Checkpoint, topics: Mapping[str, Topic]) -> LostState:
    """Return what of the state can't be rebuilt; nothing if all of its input is reprocessed."""
    sources = kafka_sources(request.version)
    if any(part.begin for topic in topics.values() for part in topic.partitions):
        point = "the earliest offset"
    elif found.offsets and (not sources or any(start_of(s) is not Start.EARLIEST for s in sources)):
        point = "the starting offset"
    else:
        return LostState()
    try:
        position = request.inspector.checkpoints.query_position(found.location)
    except EvidenceError as error:
        return LostState(risks=(LOSS_UNKNOWN(error=error),))
    if position is None:
        return LostState()
    return state_risks(request.inspector, found.location, position, request.version, point=point)


def _positions(found: Checkpoint) -> dict[tuple[str, int], int]:
    return {
        (name, number): offset
        for name, parts in found.offsets.items()
        for number, offset in parts.items()
    }


def _blockers(request: PlanRequest, found: Checkpoint, topics: Mapping[str, Topic]) -> list[str]:
    pipeline, inspector = request.pipeline, request.inspector
    blockers = common.must_be_stopped(pipeline, inspector)
    blockers += common.shared_checkpoint(pipeline, inspector)
    if inspector.kafka.has_cluster():
        read = read_topics(request.version, found.offsets)
        wanted = {name for name in read if must_exist(request.version, name)}
        blockers += common.topic_blockers(wanted, topics)
    if found.remote:
        blockers += remote_checkpoint.blockers(pipeline)
    elif found.fixed:
        blockers.append(f"Headgate can't replace checkpoint {found.location}: {found.fixed}")
    blockers += [
        f"{_name(source)} has startingOffsets=latest. Without a checkpoint, the "
        "query would start at the latest offset, not at the earliest. Use from-point with "
        "--to-earliest: it writes the earliest offsets into a new checkpoint"
        for source in kafka_sources(request.version)
        if start_of(source) is Start.LATEST
    ]
    if request.options.get("outputs", "keep") == "keep":
        blockers += common.skipped_batches(
            request.version,
            f"The query restarts at batch 0, so its results would be silently dropped. "
            f"{_other_output(request.version)}",
        )
    return blockers


def _other_output(version: Version | None) -> str:
    """Say how the results get to an output that has no batch numbers yet."""
    if version and version.sink and version.sink.traits.is_files:
        return (
            "Move the old files to backup with --outputs=empty, or let the query write to another "
            "folder with --outputs=new"
        )
    return (
        "Let the query write to another table, and use from-point with --to-earliest --new-output "
        "--output-path FOLDER (the folder of the new table)"
    )


NO_CLUSTER = Risk(
    "no Kafka cluster is configured: Headgate can't check whether Kafka has deleted records "
    "of {topics}. Set `bootstrap_servers` under [kafka]"
)
START_UNKNOWN = Risk(
    "startingOffsets of {sources} is unknown. If it is latest (Spark's default), the query "
    "reprocesses nothing and skips unread records. Use from-point with --to-earliest: it "
    "writes the earliest offsets into a new checkpoint"
)
START_SET = Risk(
    "{source} sets startingOffsets, startingOffsetsByTimestamp or startingTimestamp. Without "
    "a checkpoint, the query starts there, and doesn't reprocess earlier records. To "
    "reprocess them, use from-point with --to-earliest"
)
START_UNCLEAR = Risk(
    "Headgate can't determine where {pipeline} starts to read topic {topic}: startingOffsets, "
    "startingOffsetsByTimestamp or startingTimestamp don't give each partition an offset. "
    "Spark may fail to start. Check these options"
)
TOPIC_DELETED = Risk("topic {topic} was deleted: its records can't be reprocessed")
NO_STATUS_COMMAND = Risk(
    "{pipeline} has no status command: only new batches in the checkpoint show whether the "
    "query runs. Register a status command"
)


def _risks(
    request: PlanRequest,
    found: Checkpoint,
    topics: Mapping[str, Topic],
    starts: Starts,
) -> list[str]:
    pipeline, version = request.pipeline, request.version
    risks = common.topic_risks(topics, within=starts.within)
    has_cluster = request.inspector.kafka.has_cluster()
    if found.offsets and not has_cluster:
        names = name_list(found.offsets)
        risks.append(NO_CLUSTER(topics=names))
    sources = kafka_sources(version)
    untold = [_name(source) for source in sources if start_of(source) is None]
    if found.offsets and (untold or not sources):
        of = name_list(untold) or "the Kafka sources"
        risks.append(START_UNKNOWN(sources=of))
    if sources and not untold:
        risks += common.catch_up_risks(version, common.unread_parts(starts.topics, {}))
    risks += [
        START_SET(source=_name(source)) for source in sources if start_of(source) is Start.CHOSEN
    ]
    risks += [START_UNCLEAR(pipeline=pipeline.name, topic=name) for name in starts.unknown]
    if has_cluster:
        risks += [
            TOPIC_DELETED(topic=name)
            for name in sorted(read_topics(version, found.offsets) - topics.keys())
            if not must_exist(version, name)
        ]
    if pipeline.commands.status is None:
        risks.append(NO_STATUS_COMMAND(pipeline=pipeline.name))
    return risks


SINK_UNKNOWN = Risk(
    "the sink of {pipeline} is unknown. The sink gets results a second time: consumers get "
    "duplicates, unless the sink overwrites by key. A file sink would silently drop results "
    "up to the last batch in its _spark_metadata. Capture the query (`headgate capture "
    "EVIDENCE --pipeline {pipeline}`), so that the plan knows its sink"
)
WRITTEN_TWICE = Risk(
    "{pipeline} writes its results to {output} a second time: consumers get duplicates, "
    "unless the sink overwrites by key"
)


def _sink_risk(pipeline: Pipeline, version: Version | None) -> str:
    sink = version.sink if version else None
    if sink is None:
        return SINK_UNKNOWN(pipeline=pipeline.name)
    target = sink.target or (f"its {sink.format} sink" if sink.format else "its sink")
    return WRITTEN_TWICE(pipeline=pipeline.name, output=target)


def _name(source: Source) -> str:
    if source.topics:
        return f"source {', '.join(source.topics)}"
    return f"source {source.position}"


RISKS = (
    *common.TOPIC_RISKS,
    *common.CATCH_UP_RISKS,
    LOSS_UNKNOWN,
    NO_CLUSTER,
    START_UNKNOWN,
    START_SET,
    START_UNCLEAR,
    TOPIC_DELETED,
    NO_STATUS_COMMAND,
    SINK_UNKNOWN,
    WRITTEN_TWICE,
    *lost_state.RISKS,
    *remote_checkpoint.RISKS,
)
