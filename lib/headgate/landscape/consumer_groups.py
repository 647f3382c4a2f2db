"""Kafka's groups in the landscape: declared ones point at their pipeline, others get a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headgate.landscape import consumer_lag
from headgate.landscape.landscape import LandscapeGroup, LandscapeKind, LandscapeNode
from headgate.landscape.pipelines import Part, topics_of
from headgate.model.cluster import Cluster, Group

UNDECLARED = "undeclared"


@dataclass(frozen=True, slots=True)
class GroupConsumer:
    """A group; `node` and `topics` only where it is undeclared and reads something."""

    group: LandscapeGroup
    node: LandscapeNode | None = None
    topics: tuple[str, ...] = ()


def group_consumers(
    cluster: Cluster | None, parts: Iterable[Part], ends: consumer_lag.Ends
) -> tuple[GroupConsumer, ...]:
    """Return every group of the cluster, sorted by id."""
    owners: dict[str, Part] = {}
    for part in parts:
        if part.pipeline.group:
            owners.setdefault(part.pipeline.group, part)
    groups = cluster.groups.values() if cluster else ()
    return tuple(
        _declared(g, owners[g.id], ends) if g.id in owners else _undeclared(g, ends)
        for g in sorted(groups, key=lambda g: g.id)
    )


def group_node_id(group_id: str) -> str:
    """Return the node id of an undeclared group."""
    return f"group:{group_id}"


def _declared(group: Group, part: Part, ends: consumer_lag.Ends) -> GroupConsumer:
    stand_ins = (n.id for n in part.nodes if n.kind is LandscapeKind.PIPELINE)
    return GroupConsumer(_facts(group, ends, part.pipeline.name, next(stand_ins, None)))


def _undeclared(group: Group, ends: consumer_lag.Ends) -> GroupConsumer:
    topics = topics_of(group)
    if not topics:
        return GroupConsumer(_facts(group, ends, None, None))
    node = LandscapeNode(
        id=group_node_id(group.id),
        kind=LandscapeKind.GROUP,
        operator=group.type.value,
        label=group.id,
        note=UNDECLARED,
    )
    return GroupConsumer(_facts(group, ends, None, node.id), node, topics)


def _facts(
    group: Group, ends: consumer_lag.Ends, pipeline: str | None, node: str | None
) -> LandscapeGroup:
    positions = consumer_lag.group_positions(group, ends)
    return LandscapeGroup(
        id=group.id,
        type=group.type,
        state=group.state,
        members=None if group.members is None else len(group.members),
        pipeline=pipeline,
        node=node,
        positions=positions,
        lag=consumer_lag.total(positions),
    )
