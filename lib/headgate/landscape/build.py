"""Build the landscape: every pipeline's part first, then groups, then the topics between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from headgate.landscape import consumer_lag
from headgate.landscape.consumer_groups import GroupConsumer, group_consumers
from headgate.landscape.internal_topic_owner import ownership
from headgate.landscape.landscape import Landscape
from headgate.landscape.pipeline_topics import matcher
from headgate.landscape.pipelines import Part, part_of
from headgate.landscape.topics import topic_id, topic_node, topics_between
from headgate.model.cluster import Cluster
from headgate.model.registered_pipelines import Registry
from headgate.model.topology import Edge
from headgate.model.version import Version

NOT_READ = (
    "Headgate didn't read the Kafka cluster: the landscape shows only the topics of registered "
    "pipelines, without groups and lag. Check `bootstrap_servers` under [kafka] in headgate.toml."
)


def build(
    registry: Registry, versions: Mapping[str, Version], cluster: Cluster | None
) -> Landscape:
    """Join the registered pipelines' versions (by pipeline name) by the topics that they share.

    Takes time linear in nodes, edges, partitions and offsets. A pipeline without a version gets
    a stand-in, a topic that Kafka does not list is kept and marked, and without a cluster the
    topics are those that versions name.
    """
    ends = consumer_lag.ends_of(cluster)
    match = matcher(cluster.topics if cluster else ())
    parts = [part_of(p, versions.get(p.name), cluster, ends, match) for p in registry.pipelines]
    readers = group_consumers(cluster, parts, ends)
    owners = ownership(registry, versions, cluster)
    topics = topics_between(parts, readers, cluster, owners)
    return Landscape(
        nodes=(
            *map(topic_node, topics),
            *(n for part in parts for n in part.nodes),
            *(r.node for r in readers if r.node),
        ),
        edges=tuple(dict.fromkeys(_edges(parts, readers))),
        pipelines=tuple(part.pipeline for part in parts),
        topics=topics,
        groups=tuple(r.group for r in readers),
        warnings=tuple(_warnings(parts, cluster)),
        at=cluster.at if cluster else None,
    )


def _edges(parts: Iterable[Part], readers: Iterable[GroupConsumer]) -> Iterator[Edge]:
    for part in parts:
        yield from (Edge(topic_id(topic), node) for topic, node in part.inputs)
        yield from part.edges
        yield from (Edge(node, topic_id(topic)) for topic, node in part.outputs)
    for reader in readers:
        if reader.node:
            yield from (Edge(topic_id(topic), reader.node.id) for topic in reader.topics)


def _warnings(parts: Iterable[Part], cluster: Cluster | None) -> Iterator[str]:
    if cluster is None:
        yield NOT_READ
    else:
        yield from cluster.warnings
    for part in parts:
        yield from part.warnings
