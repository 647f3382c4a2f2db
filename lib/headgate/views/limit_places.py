"""Where a reader looks for what the evidence leaves open: at which nodes each limit is shown."""

from __future__ import annotations

from headgate.model.topology import Node, NodeKind
from headgate.model.version import Version
from headgate.parse.spark.limits import limits_of

_AT: tuple[tuple[str, tuple[NodeKind, ...]], ...] = (
    ("The topics of", (NodeKind.SOURCE,)),
    ("The sources", (NodeKind.SOURCE,)),
    ("The options of", (NodeKind.SOURCE, NodeKind.SINK)),
    ("The sink", (NodeKind.SINK,)),
    ("The output mode", (NodeKind.SINK,)),
    ("The trigger", (NodeKind.SINK,)),
    ("Types and nullability", (NodeKind.STATE_STORE,)),
    ("The state variables", (NodeKind.STATE_STORE,)),
    ("Which state store provider", (NodeKind.STATE_STORE,)),
    ("Exchanges", (NodeKind.REPARTITION,)),
)
"""Beginnings of sentences of `limits_of`, and the kinds of nodes whose fact is missing."""


def limits_at(version: Version, node: Node) -> tuple[str, ...]:
    """Return what is not known of a node; what is about the whole version is not repeated."""
    stateful = {o.node for o in version.stateful or ()}
    kind = NodeKind.STATE_STORE if node.id in stateful else node.kind
    return tuple(
        s for s in limits_of(version) if kind in _kinds(s) and not _known(version, node, s)
    )


def _kinds(sentence: str) -> tuple[NodeKind, ...]:
    return next((kinds for start, kinds in _AT if sentence.startswith(start)), ())


def _known(version: Version, node: Node, sentence: str) -> bool:
    """Return whether this very node has what the sentence misses at others of its kind."""
    if sentence.startswith("The topics of"):
        source = next((s for s in version.sources or () if s.node == node.id), None)
        return source is not None and (
            source.format != "kafka" or bool(source.topics or source.pattern)
        )
    if sentence.startswith("The options of"):
        return bool(node.details.get("options"))
    if sentence.startswith("Types and nullability"):
        return _is_typed(node)
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
