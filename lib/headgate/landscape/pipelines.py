"""One pipeline's part of the landscape: its nodes, what it reads and writes, how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from headgate.landscape import consumer_lag, pipeline_topics
from headgate.landscape.landscape import (
    LandscapeKind,
    LandscapeNode,
    LandscapePipeline,
    PartitionLag,
)
from headgate.landscape.pipeline_topics import Join, Match
from headgate.model.cluster import Cluster, Group
from headgate.model.registered_pipelines import Pipeline
from headgate.model.topology import Edge
from headgate.model.version import Engine, Version

NO_VERSION = "no version yet"
NO_TOPOLOGY = "topology not known"
NO_GROUP = "group not in Kafka"
STAND_IN = "pipeline"


Positions: TypeAlias = tuple[tuple[PartitionLag, ...], str | None, str | None]
"""Lag by partition, the source of the committed offsets, and their time."""


@dataclass(frozen=True, slots=True)
class Part:
    """`inputs` and `outputs` are (topic name, landscape node id); `edges` lie within."""

    pipeline: LandscapePipeline
    nodes: tuple[LandscapeNode, ...]
    edges: tuple[Edge, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


def part_of(
    pipeline: Pipeline,
    version: Version | None,
    cluster: Cluster | None,
    ends: consumer_lag.Ends,
    match: Match,
) -> Part:
    """Return the pipeline's part; without a topology one stand-in node does all the reading."""
    group = cluster.groups.get(pipeline.group) if cluster and pipeline.group else None
    inputs, outputs = _joins(pipeline, version, group, match)
    note = _note(pipeline, version, group, cluster)
    nodes = _topology_nodes(pipeline, version)
    if not nodes or any(j.node is None for j in (*inputs, *outputs)):
        nodes += (_stand_in(pipeline, note),)
    found = _positions(pipeline, version, group, ends, match)
    facts = _facts(pipeline, found, nodes, (inputs, outputs))
    facts = replace(facts, captured_at=version.captured_at if version else None, note=note)
    lost = consumer_lag.lag_sentences(pipeline.name, facts.positions)
    return Part(
        pipeline=facts,
        nodes=nodes,
        edges=_edges(pipeline, version),
        inputs=tuple((j.topic, _id(pipeline, j.node)) for j in inputs),
        outputs=tuple((j.topic, _id(pipeline, j.node)) for j in outputs),
        warnings=(*_warnings(pipeline, version, inputs, outputs, cluster), *lost),
    )


def topics_of(group: Group) -> tuple[str, ...]:
    """Return the topics that a group has committed or is assigned, sorted."""
    assigned = {t for m in group.members or () for t, _ in m.assignment}
    return tuple(sorted({o.topic for o in group.offsets} | assigned))


def _id(pipeline: Pipeline, node: str | None) -> str:
    return f"{pipeline.name}/{node or STAND_IN}"


def _joins(
    pipeline: Pipeline, version: Version | None, group: Group | None, match: Match
) -> tuple[tuple[Join, ...], tuple[Join, ...]]:
    if version is not None and (found := pipeline_topics.reads(version, match)):
        return found, pipeline_topics.writes(version)
    topics = {*pipeline.topics, *(topics_of(group) if group else ())}
    return tuple(Join(t, None) for t in sorted(topics)), pipeline_topics.writes(
        version
    ) if version else ()


def _topology_nodes(pipeline: Pipeline, version: Version | None) -> tuple[LandscapeNode, ...]:
    return tuple(
        LandscapeNode(
            id=_id(pipeline, n.id),
            kind=LandscapeKind(n.kind.value),
            operator=n.operator,
            label=n.label,
            pipeline=pipeline.name,
            subtopology=n.subtopology,
            details=n.details,
        )
        for n in (version.topology.nodes if version else ())
    )


def _stand_in(pipeline: Pipeline, note: str | None) -> LandscapeNode:
    return LandscapeNode(
        id=_id(pipeline, None),
        kind=LandscapeKind.PIPELINE,
        operator=pipeline.engine.value,
        label=pipeline.name,
        pipeline=pipeline.name,
        note=note,
    )


def _edges(pipeline: Pipeline, version: Version | None) -> tuple[Edge, ...]:
    edges = version.topology.edges if version else ()
    return tuple(Edge(_id(pipeline, e.source), _id(pipeline, e.target)) for e in edges)


def _note(
    pipeline: Pipeline, version: Version | None, group: Group | None, cluster: Cluster | None
) -> str | None:
    if pipeline.engine is Engine.CONSUMER_GROUP:
        return NO_GROUP if cluster and group is None else None
    if version is None:
        return NO_VERSION
    return None if version.topology.nodes else NO_TOPOLOGY


def _facts(
    pipeline: Pipeline,
    found: Positions,
    nodes: tuple[LandscapeNode, ...],
    joins: tuple[Iterable[Join], Iterable[Join]],
) -> LandscapePipeline:
    positions, origin, at = found
    inputs, outputs = joins
    return LandscapePipeline(
        name=pipeline.name,
        engine=pipeline.engine,
        owner=pipeline.owner,
        description=pipeline.description,
        group=pipeline.group,
        nodes=tuple(n.id for n in nodes),
        reads=tuple(sorted({j.topic for j in inputs})),
        writes=tuple(sorted({j.topic for j in outputs})),
        stores=sum(n.kind is LandscapeKind.STATE_STORE for n in nodes),
        positions=positions,
        lag=consumer_lag.total(positions),
        lag_from=origin,
        lag_at=at,
    )


def _positions(
    pipeline: Pipeline,
    version: Version | None,
    group: Group | None,
    ends: consumer_lag.Ends,
    match: Match,
) -> Positions:
    """Return the positions, where they come from, and when they were true."""
    if pipeline.engine is Engine.SPARK:
        found = consumer_lag.checkpoint_positions(version, ends, match) if version else ()
        progress = version.progress if version else None
        origin = (progress and progress.offsets_from) or "checkpoint"
        known = any(p.position is not None for p in found)
        return found, origin if known else None, progress.offsets_at if progress else None
    found = consumer_lag.group_positions(group, ends) if group else ()
    return found, "group" if found else None, None


def _warnings(
    pipeline: Pipeline,
    version: Version | None,
    inputs: Iterable[Join],
    outputs: Iterable[Join],
    cluster: Cluster | None,
) -> Iterator[str]:
    if version is not None and pipeline_topics.writes_anywhere(version):
        yield (
            f"Pipeline {pipeline.name} chooses a topic for each record, so its output topics are "
            "unknown."
        )
    if cluster is None:
        return
    for verb, found in (("reads", inputs), ("writes", outputs)):
        for topic in dict.fromkeys(j.topic for j in found):
            if topic not in cluster.topics:
                yield (
                    f"Pipeline {pipeline.name} {verb} topic {topic}, but Kafka doesn't list the "
                    "topic: it doesn't exist, or Headgate has no permission to see it."
                )
