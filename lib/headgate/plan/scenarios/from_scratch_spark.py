"""From scratch for a Spark query: a fresh checkpoint, the old one kept beside it."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.cluster import Topic
from headgate.model.registry import Pipeline
from headgate.model.version import Source, Version
from headgate.plan.plan import Plan
from headgate.plan.scenario import Asked
from headgate.plan.scenarios import common
from headgate.plan.step import Step
from headgate.plan.steps import ReplaceCheckpoint
from headgate.plan.steps.process import start_or_ask
from headgate.plan.world import Checkpoint, World

_FILE_SINKS = frozenset({"parquet", "json", "csv", "orc", "text", "avro", "file"})


def build(asked: Asked) -> Plan:
    """Return the plan: stop, copy the checkpoint, put a fresh one in its place, start."""
    pipeline, world, version = asked.pipeline, asked.world, asked.version
    found = world.checkpoint(pipeline.checkpoint) if pipeline.checkpoint else None
    if found is None:
        where = f"there is no checkpoint at {pipeline.checkpoint}"
        missing = where if pipeline.checkpoint else "headgate.toml names no `checkpoint` of it"
        return asked.refuse(missing)
    read = found.offsets if world.has_cluster() else {}
    topics = world.topics(read) if read else {}
    return Plan(
        scenario=asked.scenario,
        pipeline=pipeline.name,
        steps=_steps(asked, found),
        preconditions={
            **({"cluster_id": world.cluster_id()} if read else {}),
            "topics": common.topic_facts(topics),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "commands": common.command_facts(pipeline),
        },
        impact=common.records_again(topics, _positions(found)),
        risks=tuple(_risks(pipeline, found, topics, version)),
        refusals=tuple(_refusals(pipeline, world, found, topics, version)),
        resources=(f"checkpoint:{found.location}",),
    )


def _steps(asked: Asked, found: Checkpoint) -> tuple[Step, ...]:
    pipeline = asked.pipeline
    stop = common.stop_step(pipeline, checkpoint=found.location)
    what = {"pipeline": pipeline.name, "checkpoint": found.location, "query_id": found.query_id}
    start = start_or_ask(stop, fresh=True)
    snapshot = common.snapshot_step(asked.world, **what)
    return (stop, snapshot, ReplaceCheckpoint(**what), start)


def _positions(found: Checkpoint) -> dict[tuple[str, int], int]:
    return {
        (name, number): offset
        for name, parts in found.offsets.items()
        for number, offset in parts.items()
    }


def _refusals(
    pipeline: Pipeline,
    world: World,
    found: Checkpoint,
    topics: Mapping[str, Topic],
    version: Version | None,
) -> list[str]:
    refusals = common.must_be_stopped(pipeline, world)
    refusals += common.shared_checkpoint(pipeline, world)
    if world.has_cluster():
        refusals += common.topic_refusals(set(found.offsets), topics)
    if found.fixed:
        refusals.append(f"{found.location} can't be replaced: {found.fixed}")
    return refusals + [
        f"{_name(source)} is declared with startingOffsets=latest: without its checkpoint the"
        " query would begin at the end, not at the beginning"
        for source in _kafka_sources(version)
        if _starts(source) == "latest"
    ]


def _risks(
    pipeline: Pipeline,
    found: Checkpoint,
    topics: Mapping[str, Topic],
    version: Version | None,
) -> list[str]:
    risks = common.topic_risks(topics)
    if found.offsets and not topics:
        names = ", ".join(sorted(found.offsets))
        risks.append(f"no Kafka cluster is configured: the topics {names} were not looked at")
    known = [s for s in _kafka_sources(version) if _starts(s) is not None]
    if found.offsets and not known:
        risks.append(
            "where the query begins without its checkpoint is not known: Spark's default"
            " startingOffsets is latest, which reads nothing again and skips what is waiting"
        )
    if pipeline.commands.status is None:
        risks.append(
            f"{pipeline.name} has no status command: whether it runs is told from its logs alone"
        )
    return [*risks, _sink_risk(pipeline, version)]


def _sink_risk(pipeline: Pipeline, version: Version | None) -> str:
    sink = version.sink if version else None
    where = (sink.target or sink.format) if sink else None
    if sink is not None and sink.format in _FILE_SINKS:
        return (
            f"the file sink {where} skips batch numbers that its _spark_metadata has already:"
            " output of the new run is silently dropped up to the old run's last batch unless"
            " the output folder is emptied or another one"
        )
    return (
        f"{pipeline.name} writes its results again{f' to {where}' if where else ''}: whoever"
        " reads them gets them twice, unless the sink overwrites by key"
    )


def _kafka_sources(version: Version | None) -> list[Source]:
    return [s for s in (version.sources or ()) if s.format == "kafka"] if version else []


def _starts(source: Source) -> str | None:
    """Return `startingOffsets`, None where the evidence does not hold the source's options."""
    options = {k.lower(): v for k, v in source.options.items()}
    return options.get("startingoffsets")


def _name(source: Source) -> str:
    return ", ".join(source.topics) or f"source {source.position}"
