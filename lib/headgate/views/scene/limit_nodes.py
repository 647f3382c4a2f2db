"""At which nodes each limit (what the evidence leaves open) is shown."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.topology import Node, NodeKind
from headgate.model.version import Version
from headgate.parse.evidence.limits import Gap, gaps_of

_AT: Mapping[Gap, tuple[NodeKind, ...]] = {
    Gap.TOPICS: (NodeKind.SOURCE,),
    Gap.SOURCES: (NodeKind.SOURCE,),
    Gap.OPTIONS: (NodeKind.SOURCE, NodeKind.SINK),
    Gap.SINK: (NodeKind.SINK,),
    Gap.MODE: (NodeKind.SINK,),
    Gap.TRIGGER: (NodeKind.SINK,),
    Gap.TYPES: (NodeKind.STATE_STORE,),
    Gap.VARIABLES: (NodeKind.STATE_STORE,),
    Gap.PROVIDER: (NodeKind.STATE_STORE,),
    Gap.EXCHANGES: (NodeKind.REPARTITION,),
}
"""Kinds of nodes that lack a fact, by gap in the evidence. Other gaps concern the whole version."""


def limits_at(version: Version, node: Node) -> tuple[str, ...]:
    """Return what is not known of a node; what is about the whole version is not repeated."""
    stateful = {o.node for o in version.stateful or ()}
    kind = NodeKind.STATE_STORE if node.id in stateful else node.kind
    return tuple(
        said
        for gap, said in gaps_of(version).items()
        if kind in _AT.get(gap, ()) and not _known(version, node, gap)
    )


def _known(version: Version, node: Node, gap: Gap) -> bool:
    """Return whether this very node has what is missing at others of its kind."""
    match gap:
        case Gap.TOPICS:
            source = next((s for s in version.sources or () if s.node == node.id), None)
            return source is not None and (
                source.format != "kafka" or bool(source.topics or source.pattern)
            )
        case Gap.OPTIONS:
            return bool(node.details.get("options"))
        case Gap.TYPES:
            return _is_typed(node)
        case _:
            return False


def _is_typed(node: Node) -> bool:
    """Return whether the store's own columns are all known; an operator has none itself."""
    schemas = [node.details.get(f"{which}_schema") for which in ("key", "value")]
    if not all(isinstance(s, list | tuple) for s in schemas):
        return False
    return all(
        isinstance(f, dict) and f.get("type") is not None and f.get("nullable") is not None
        for schema in schemas
        for f in schema or ()
    )
