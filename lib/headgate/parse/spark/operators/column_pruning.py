"""Which columns each operator has to bring: what the optimiser's column pruning leaves."""

from __future__ import annotations

from headgate.parse.spark.expression.parse import references
from headgate.parse.spark.operators.relation import Column, Query, Relation

Needs = frozenset[int]


_MAKING = frozenset(("project", "aggregate", "session_aggregate", "expand", "generate"))
_PASSING = frozenset(("stream_join", "static_join", "join"))


def needed(query: Query) -> tuple[Needs, ...]:
    """Return which outputs of each relation something above or the sink uses.

    It is known of relations that make columns and of a stream-stream join's inputs, and empty for
    all others. Attribute numbers are unique in a plan: what is wanted so far, from the sink down,
    is one set, so that deep plans of many columns stay linear.
    """
    relations = query.relations
    out: list[Needs] = [frozenset()] * len(relations)
    wanted = set(_ids(relations[-1].outputs)) if relations else set()
    for index in range(len(relations) - 1, -1, -1):
        relation = relations[index]
        if relation.kind in _MAKING:
            out[index] = _of(relation, wanted)
        for below in relation.inputs:
            wanted |= _below(relation, wanted, relations[below])
        if relation.kind == "stream_join":
            for below in relation.inputs:
                out[below] = _of(relations[below], wanted)
    return tuple(out)


def _of(relation: Relation, wanted: set[int]) -> Needs:
    return frozenset([c.id for c in relation.outputs if c.id is not None and c.id in wanted])


def _ids(columns: tuple[Column, ...]) -> Needs:
    return frozenset([c.id for c in columns if c.id is not None])


def _refs(*texts: str | None) -> Needs:
    return references(" ".join([t for t in texts if t]))


def _below(relation: Relation, wanted: set[int], below: Relation) -> Needs:
    """Return what the relation needs of an input, besides what it passes on."""
    match relation.kind:
        case "project":
            return _refs(*[c.text for c in relation.outputs if c.id in wanted or c.id is None])
        case "expand":
            made = [c for c in relation.outputs if c.id in wanted]
            return _refs(*relation.functions, *(c.text for c in made))
        case "window":
            return _refs(*relation.keys, *relation.right_keys, *relation.functions)
        case "aggregate" | "session_aggregate":
            made = [c for c in relation.outputs if c.id in wanted or c.id is None]
            return _refs(*relation.keys, *relation.functions, *(c.text for c in made))
        case "union":
            return _by_position(relation.outputs, below.outputs, wanted)
        case "map_groups" | "transform_with_state" | "unknown" | "script" | "co_group":
            return _ids(below.outputs)
        case "watermark":
            return _refs(relation.extra.get("column"))
    if relation.kind.startswith(("map_", "flat_", "append_", "serialize_", "deserialize_")):
        return _ids(below.outputs)
    own = _refs(relation.condition, *relation.keys, *relation.right_keys)
    if relation.kind in _PASSING or relation.outputs is below.outputs:
        return own
    return own | _refs(*(c.text for c in relation.outputs if c.id in wanted))


def _by_position(outer: tuple[Column, ...], inner: tuple[Column, ...], wanted: set[int]) -> Needs:
    pairs = zip(outer, inner, strict=False)
    return frozenset(i.id for o, i in pairs if o.id in wanted and i.id is not None)
