"""Make one version of what was read of a Kafka Streams application."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.model.kafka_streams import InternalTopic, StreamsApplication
from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Engine, Evidence, Sink, Source, Version
from headgate.parse.kafka_streams.application import application
from headgate.parse.kafka_streams.config import Config
from headgate.parse.kafka_streams.description import Description
from headgate.parse.kafka_streams.operators import UNREAD
from headgate.parse.kafka_streams.topology import draw

NO_ID = (
    "the evidence has no application id, so internal topic names lack the prefix: set `group` of "
    "the pipeline in headgate.toml, or add a log with `StreamsConfig values:`, or a file "
    "config.json with `application.id`"
)
NO_DESCRIPTION = (
    "the evidence has no description of the topology: operators, sinks and stores without a "
    "changelog are unknown. Add the output of Topology#describe()"
)
_SHOWN_CONFIGS = ("cleanup.policy", "retention.ms", "min.compaction.lag.ms", "segment.bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsPieces:
    """Everything that evidence said; None means that a kind of piece is missing."""

    description: Description | None = None
    config: Config | None = None
    internal: tuple[InternalTopic, ...] | None = None
    inputs: dict[str, int] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    name: str | None = None
    release: str | None = None


def build_version(pieces: StreamsPieces) -> Version:
    """Return the version; without a description it is honestly partial, and a warning says so."""
    description = pieces.description or Description()
    drawn = draw(description)
    app = application(description, drawn, pieces.config or Config(), pieces.internal, pieces.inputs)
    return Version(
        engine=Engine.KAFKA_STREAMS,
        engine_version=pieces.release,
        name=pieces.name or app.application_id,
        topology=with_topics(drawn.topology, app),
        sources=sources_of(app) if app.described else None,
        sink=_sink(app),
        evidence=pieces.evidence,
        warnings=tuple(dict.fromkeys((*pieces.warnings, *_warnings(app, description)))),
        streams=app,
    )


def sources_of(app: StreamsApplication) -> tuple[Source, ...]:
    """Return the sources of outside data."""
    return tuple(
        Source(position=i, format="kafka", topics=s.topics, pattern=s.pattern, node=s.node)
        for i, s in enumerate(app.sources)
    )


def _sink(app: StreamsApplication) -> Sink | None:
    """Return the sink where there is just one; several are facts of `streams` and of the graph."""
    if len(app.sinks) != 1:
        return None
    (sink,) = app.sinks
    return Sink(format="kafka", target=sink.topic, node=sink.node)


def with_topics(topology: Topology, app: StreamsApplication) -> Topology:
    """Return the graph with the topics' full names, partitions and settings on its nodes."""
    on_cluster = {t.name: t for t in app.internal or ()}
    facts: dict[str, dict[str, Any]] = {}
    for store in app.stores:
        if store.node:
            facts[store.node] = _store_facts(store.changelog, store.restored_from, on_cluster)
    for repartition in app.repartitions:
        if repartition.node:
            found = on_cluster.get(repartition.topic)
            facts[repartition.node] = {"internal_topic": repartition.topic, **_topic_facts(found)}
    for source in app.sources:
        known = {t: app.inputs[t] for t in source.topics if t in app.inputs}
        if source.node and known:
            facts[source.node] = {"topic_partitions": known}
    return replace(topology, nodes=tuple(_with(n, facts.get(n.id)) for n in topology.nodes))


def _with(node: Node, facts: Mapping[str, Any] | None) -> Node:
    return replace(node, details={**node.details, **facts}) if facts else node


def _store_facts(
    changelog: str | None, restored_from: str | None, on_cluster: Mapping[str, InternalTopic]
) -> dict[str, Any]:
    if restored_from is not None:
        return {"restored_from": restored_from}
    if changelog is None:
        return {}
    return {"internal_topic": changelog, **_topic_facts(on_cluster.get(changelog))}


def _topic_facts(topic: InternalTopic | None) -> dict[str, Any]:
    if topic is None:
        return {}
    configs = {**topic.effective, **topic.configs}
    shown = {k: configs[k] for k in _SHOWN_CONFIGS if k in configs}
    said = {"partitions": topic.partitions, "topic_configs": shown}
    return {k: v for k, v in said.items() if v not in (None, {})}


def _warnings(app: StreamsApplication, description: Description) -> Iterator[str]:
    yield from description.warnings
    if not app.described:
        yield NO_DESCRIPTION
    if app.application_id is None and (app.stores or app.repartitions):
        yield NO_ID
    yield from disagreements(app)


def disagreements(app: StreamsApplication) -> Iterator[str]:
    """Say where the lists of topics and the description don't fit each other."""
    expected = app.expected_topics()
    if not app.described or not app.application_id or app.internal is None:
        return
    unknown = [t.name for t in app.internal if t.name not in expected]
    if unknown:
        yield (f"the topology has no store or repartition for the internal topics {some(unknown)}")


def some(names: Iterable[str]) -> str:
    """Return the first names and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - 3
    return ", ".join(ordered[:3]) + (f" and {more} more" if more > 0 else "")


def unread(topology: Topology) -> list[Node]:
    """Return the nodes whose operator the description does not show."""
    return [n for n in topology.nodes if n.kind is NodeKind.TRANSFORM and n.operator in UNREAD]
