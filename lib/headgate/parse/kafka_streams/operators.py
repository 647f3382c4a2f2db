"""What each node of a description does, as one word.

A generated name shows it. If the code gave the name, then the ending that Kafka Streams appended,
the store's generated name or the node's neighbours may leave just one possibility; otherwise
the word is `processor`, or `stateful_processor` with a store, and counts as not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.parse.kafka_streams.description import DescribedNode, Description, Key
from headgate.parse.kafka_streams.generated_names import generated, operator_of, operator_of_store
from headgate.parse.kafka_streams.internal_topics import Joint

UNREAD = frozenset({"unknown", "processor", "stateful_processor"})
"""Operators of nodes whose names show no DSL operator: custom names, or names of newer releases."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A description's nodes with their neighbours, and who uses each store."""

    nodes: Mapping[Key, DescribedNode]
    before: Mapping[Key, tuple[DescribedNode, ...]]
    after: Mapping[Key, tuple[DescribedNode, ...]]
    users: Mapping[Key, tuple[DescribedNode, ...]]


def neighbours_of(description: Description) -> Neighbours:
    """Return the neighbours of each node; stores by (topology, name)."""
    nodes = {n.key: n for n in description.nodes}
    before: dict[Key, list[DescribedNode]] = {}
    after: dict[Key, list[DescribedNode]] = {}
    for source, target in description.edges:
        before.setdefault(target, []).append(nodes[source])
        after.setdefault(source, []).append(nodes[target])
    users: dict[Key, list[DescribedNode]] = {}
    for node in description.nodes:
        for store in node.stores:
            users.setdefault((node.topology, store), []).append(node)
    return Neighbours(nodes, *({k: tuple(v) for k, v in d.items()} for d in (before, after, users)))


def operators(
    description: Description, found: Neighbours, joints: tuple[Joint, ...]
) -> dict[Key, tuple[str, str]]:
    """Return (operator, the reason) of each processor; sources and sinks name themselves."""
    out: dict[Key, tuple[str, str]] = {}
    for node in description.nodes:
        if node.kind != "processor":
            out[node.key] = (node.kind, "description")
        else:
            out[node.key] = _processor(node, found, joints)
    return _refined(out, found)


def _processor(
    node: DescribedNode, found: Neighbours, joints: tuple[Joint, ...]
) -> tuple[str, str]:
    if parsed := generated(node.name):
        return operator_of(node.name) or "unknown", f"the generated name {parsed.word}"
    if word := operator_of(node.name):
        return word, "the ending of the node name"
    for store in node.stores:
        word = operator_of_store(store)
        if word and len(found.users[node.topology, store]) == 1:
            return word, f"the store {store}"
    if word := _by_neighbours(node, found, joints):
        return word, "its position in the topology"
    return (
        "stateful_processor" if node.stores else "processor"
    ), "nothing, because the node has a custom name"


def _by_neighbours(node: DescribedNode, found: Neighbours, joints: tuple[Joint, ...]) -> str | None:
    """Return the operator where the neighbours' names leave one possibility."""
    before, after = found.before.get(node.key, ()), found.after.get(node.key, ())
    names_before, names_after = {n.name for n in before}, {n.name for n in after}
    if node.is_global:
        return "table_source"
    if f"{node.name}-source" in names_before:
        return "table_source" if _outside(before, joints) else "aggregate"
    if f"{node.name}-repartition-filter" in names_after or _feeds(node, after, joints):
        return "key_select"
    if {f"{node.name}-join-this", f"{node.name}-join-other"} & names_before:
        return "table_table_join_merge"
    if _words(before) & {"stream_join", "stream_outer_join"} and node.name.endswith("-merge"):
        return "merge"
    if "foreign_key_resolve" in _words(before):
        return "foreign_key_join"
    return _by_use(node, found)


def _by_use(node: DescribedNode, found: Neighbours) -> str | None:
    """Return the operator by its store, and by the other consumers of what it writes."""
    before, after = found.before.get(node.key, ()), found.after.get(node.key, ())
    if any(n.name == f"{node.name}-repartition-source" for n in before):
        return _joined_or_aggregated(node, found)
    if f"{node.name}-store" in node.stores and len(found.users[_store(node)]) == 1:
        return "suppress"
    if after and all(n.name.startswith(node.name) and n.name != node.name for n in after):
        return "branch"
    if any(n.kind == "processor" and _is_split(n, node, found) for n in before):
        return "branch"
    return "materialize" if _is_kept(node, found) else None


def _is_kept(node: DescribedNode, found: Neighbours) -> bool:
    """Whether it keeps a table of its own: one store, and what follows takes a table.

    An aggregate, a reduce, a count, a `toTable`, or a table's own operator: which is not said.
    """
    own = [s for s in node.stores if len(found.users[node.topology, s]) == 1]
    after = (generated(n.name) for n in found.after.get(node.key, ()))
    return len(own) == len(node.stores) == 1 and any(
        g and g.word.startswith("KTABLE-") for g in after
    )


def _store(node: DescribedNode) -> Key:
    return node.topology, f"{node.name}-store"


def _outside(before: tuple[DescribedNode, ...], joints: tuple[Joint, ...]) -> bool:
    inner = {s.key for j in joints for s in j.sources}
    return all(n.key not in inner for n in before)


def _feeds(
    node: DescribedNode, after: tuple[DescribedNode, ...], joints: tuple[Joint, ...]
) -> bool:
    """Whether it selects the key of a regrouped table: it feeds the repartition's sink itself."""
    own = {s.key for j in joints for s in j.sinks if j.topic == f"{node.name}-repartition"}
    return any(n.key in own for n in after)


def _words(nodes: tuple[DescribedNode, ...]) -> set[str | None]:
    return {operator_of(n.name) for n in nodes}


def _joined_or_aggregated(node: DescribedNode, found: Neighbours) -> str | None:
    """A join with a table has the table's store; an aggregate has a store of its own."""
    if not node.stores:
        return None
    shared = any(len(found.users[node.topology, s]) > 1 for s in node.stores)
    return "table_join" if shared else "aggregate"


def _is_split(parent: DescribedNode, node: DescribedNode, found: Neighbours) -> bool:
    children = found.after.get(parent.key, ())
    return (
        len(children) > 1
        and not parent.stores
        and not node.stores
        and operator_of(parent.name) in (None, "branch")
        and all(c.kind == "processor" and c.name.startswith(parent.name) for c in children)
    )


def _refined(out: dict[Key, tuple[str, str]], found: Neighbours) -> dict[Key, tuple[str, str]]:
    """Refine what a merge merges, and distinguish joins with a global table from others."""
    for key, (word, why) in list(out.items()):
        node = found.nodes[key]
        if word == "merge" and any(
            out[n.key][0] in ("stream_join", "stream_outer_join") for n in found.before.get(key, ())
        ):
            out[key] = ("stream_join_merge", why)
        elif word in ("table_join", "table_left_join") and not node.stores:
            # A table that is joined has a store here. 4.3.1 calls an inner join with a global
            # table LEFTJOIN, too, so that the name does not tell inner from left.
            out[key] = ("global_table_join", "a join without a store")
    return out
