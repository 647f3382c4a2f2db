"""Tell streaming leaves from static ones, and a stream-stream join from a static one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headgate.parse.spark.relation import LEAVES, Query, Relation


def settle_streaming(query: Query, known: Mapping[int, bool]) -> Query:
    """Return the query with `streaming` decided for every relation.

    `known` says of attribute numbers whether a streaming leaf of another form makes them. A leaf
    that nothing tells about counts as streaming: every query has one, static ones are rare.
    """
    consumers = _consumers(query.relations)
    marked = any(r.streaming and r.kind not in LEAVES for r in query.relations)
    done: list[Relation] = []
    for index, relation in enumerate(query.relations):
        if relation.kind in LEAVES:
            above = query.relations[consumers[index]] if index in consumers else None
            settled = _leaf(relation, above, known, marked and not _physical(query))
        else:
            settled = _inner(relation, [done[i] for i in relation.inputs])
        done.append(settled)
    return replace(query, relations=tuple(done))


def streaming_attributes(query: Query) -> dict[int, bool]:
    """Return for each attribute that a leaf makes whether the leaf streams."""
    return {
        c.id: bool(r.streaming)
        for r in query.relations
        if r.kind in LEAVES
        for c in r.outputs
        if c.id is not None
    }


def _physical(query: Query) -> bool:
    return query.form in ("physical", "formatted")


def _consumers(relations: Sequence[Relation]) -> dict[int, int]:
    return {i: index for index, r in enumerate(relations) for i in r.inputs}


def _leaf(
    leaf: Relation, above: Relation | None, known: Mapping[int, bool], marked: bool
) -> Relation:
    if leaf.streaming is not None:
        streaming = leaf.streaming
    elif found := [known[c.id] for c in leaf.outputs if c.id is not None and c.id in known]:
        streaming = found[0]
    elif above is None or len(above.inputs) > 1:
        streaming = not marked or above is None
    elif marked:
        streaming = bool(above.streaming)
    else:
        streaming = True
    if leaf.streaming is None and not known and not marked and leaf.name != "static":
        streaming = streaming and not _beside_renamed(leaf, above)
    kind = "source" if streaming else "static"
    return replace(leaf, streaming=streaming, kind=kind)


def _beside_renamed(leaf: Relation, above: Relation | None) -> bool:
    """Whether a logical plan of a started query reads this leaf without renaming its columns.

    Each batch's data comes under a projection that renames every column of a streaming source
    to the attribute of the query; a static relation is read as it is.
    """
    if above is None or leaf.extra.get("read_schema") or leaf.extra.get("path"):
        return False
    renames = above.kind == "project" and len(above.outputs) == len(leaf.outputs)
    return not (renames and all(c.text != f"{c.name}#{c.id}" for c in above.outputs))


def _inner(relation: Relation, inputs: Sequence[Relation]) -> Relation:
    streaming = any(i.streaming for i in inputs)
    if relation.kind != "join":
        return replace(relation, streaming=streaming)
    symmetric = "symmetric" in relation.extra
    plain = relation.name in ("Join",)
    both = all(i.streaming for i in inputs)
    kind = "stream_join" if symmetric or (plain and both) else "static_join"
    return replace(relation, streaming=streaming, kind=kind)
