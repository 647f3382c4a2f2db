"""Complete an application with cluster state; without a description build it only from that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from headgate.errors import EvidenceError
from headgate.model.cluster import Cluster, Group, GroupType, Topic
from headgate.model.kafka_streams import (
    InternalKind,
    InternalTopic,
    StreamsApplication,
    internal_kind,
)
from headgate.model.version import Engine, Evidence, Version
from headgate.parse.kafka_streams.topology_from_group import partial
from headgate.parse.kafka_streams.version import (
    NO_DESCRIPTION,
    NO_ID,
    disagreements,
    some,
    sources_of,
    with_topics,
)
from headgate.text.java_patterns import java_pattern

_PROTOCOLS = {
    GroupType.STREAMS: "streams",
    GroupType.CLASSIC: "classic",
    GroupType.CONSUMER: "classic",
}


def observed(
    version: Version | None, application_id: str, cluster: Cluster, owned: Mapping[str, str]
) -> Version:
    """Return the version with internal topics, partitions, settings and the group's own topology.

    `owned` are the topics verified to be the application's, with the evidence. Without a `version`,
    or with one that has no description, the graph is what the group shows, and a warning says what
    is missing. EvidenceError if the evidence is of another application.
    """
    version = version or Version(engine=Engine.KAFKA_STREAMS)
    app = _identified(version.streams or StreamsApplication(), application_id)
    group = cluster.groups.get(application_id)
    app = _with_group(app, group)
    if not app.described:
        app, topology = partial(app, group, tuple(owned))
        version = replace(version, topology=topology)
    app = replace(
        app,
        internal=tuple(_internal(cluster.topics[n], p) for n, p in sorted(owned.items())
                       if n in cluster.topics),
        inputs={**app.inputs, **_inputs(app, cluster)},
    )  # fmt: skip
    kept = [w for w in version.warnings if w not in (NO_ID, NO_DESCRIPTION)]
    warnings = (*kept, *_warnings(app, group, cluster))
    return replace(
        version,
        name=version.name or application_id,
        topology=with_topics(version.topology, app),
        sources=sources_of(app) if app.sources else version.sources,
        streams=app,
        evidence=(*version.evidence, Evidence(kind="cluster", path=cluster.bootstrap)),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def with_application_id(version: Version, application_id: str) -> Version:
    """Return the version with the id that its application is registered under.

    A description doesn't name one. A version that names an id keeps it, also another one.
    """
    if version.streams is None or version.streams.application_id is not None:
        return version
    app = _identified(version.streams, application_id)
    return replace(
        version,
        topology=with_topics(version.topology, app),
        streams=app,
        warnings=tuple(w for w in version.warnings if w != NO_ID),
    )


def _identified(app: StreamsApplication, application_id: str) -> StreamsApplication:
    """Return the application with its id; names of topics that lacked it get it."""
    if app.application_id == application_id:
        return app
    if app.application_id is not None:
        raise EvidenceError(
            f"the evidence is from application {app.application_id}, but the pipeline's group is "
            f"{application_id}: correct `group` or `evidence` in headgate.toml"
        )
    stores = tuple(
        replace(s, changelog=f"{application_id}-{s.changelog}") if s.changelog else s
        for s in app.stores
    )
    repartitions = tuple(replace(r, topic=f"{application_id}-{r.topic}") for r in app.repartitions)
    return replace(app, application_id=application_id, stores=stores, repartitions=repartitions)


def _with_group(app: StreamsApplication, group: Group | None) -> StreamsApplication:
    protocol = _PROTOCOLS.get(group.type) if group else None
    kept = group.subtopologies if group else None
    return replace(app, protocol=protocol or app.protocol, group_topology=kept)


def _internal(topic: Topic, evidence: str) -> InternalTopic:
    return InternalTopic(
        name=topic.name,
        kind=internal_kind(topic.name) or InternalKind.UNKNOWN,
        partitions=len(topic.partitions),
        configs=topic.own_settings,
        effective=topic.settings,
        begin_offsets=_known(p.begin for p in topic.partitions),
        end_offsets=_known(p.end for p in topic.partitions),
        proof=evidence,
    )


def _known(offsets: Iterator[int | None]) -> tuple[int, ...]:
    """Return all offsets, or none if one is missing: an offset's index is its partition."""
    found = list(offsets)
    return tuple(o for o in found if o is not None) if None not in found else ()


def _inputs(app: StreamsApplication, cluster: Cluster) -> dict[str, int]:
    names = {t for s in app.sources for t in s.topics}
    own = [n for n, t in cluster.topics.items() if not t.internal]
    for source in app.sources:
        names |= set(matching(source.pattern, own)) if source.pattern else set()
    found = {n: cluster.topics[n] for n in sorted(names) if n in cluster.topics}
    return {n: len(t.partitions) for n, t in found.items()}


def matching(pattern: str, names: Iterable[str]) -> Iterator[str]:
    """Yield what a pattern matches wholly; one that only Java understands matches none."""
    compiled = java_pattern(pattern)
    yield from (n for n in names if compiled is not None and compiled.fullmatch(n))


def _warnings(app: StreamsApplication, group: Group | None, cluster: Cluster) -> Iterator[str]:
    if not app.described:
        yield NO_DESCRIPTION
    if group is None:
        yield (
            f"the cluster has no group {app.application_id}: the application never ran on "
            "this cluster, or the group's offsets have expired"
        )
    yield from disagreements(app)
    missing = sorted(app.expected_topics().keys() - cluster.topics.keys())
    if missing and group is not None:
        yield (
            f"the cluster lacks internal topics of the topology: {some(missing)}. A store's "
            "changelog may be disabled, or this version has not run yet"
        )
    lost = sorted({t for s in app.sources for t in s.topics} - cluster.topics.keys())
    if lost:
        yield f"the cluster lacks input topics: {some(lost)}"
    yield from _other_topology(app)


def _other_topology(app: StreamsApplication) -> Iterator[str]:
    """Say where the topology that the broker keeps is not the one described."""
    if not app.described or app.group_topology is None:
        return
    kept = {t.name for s in app.group_topology for t in (*s.changelogs, *s.repartition_sources)}
    inputs = {t for s in app.sources for t in s.topics}
    unknown = sorted(kept - app.expected_topics().keys() - inputs)
    if unknown:
        yield (
            "the broker stores another topology for the streams group, with topics that the "
            f"description lacks: {some(unknown)}. Check that the description is of the running "
            "version"
        )
