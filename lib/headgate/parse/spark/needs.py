"""Which columns each operator has to bring: what the optimiser's column pruning leaves."""

from __future__ import annotations

from headgate.parse.spark.expression import references
from headgate.parse.spark.relation import Column, Query, Relation

Needs = frozenset[int]


def needed(query: Query) -> tuple[Needs, ...]:
    """Return, for each relation, the attribute numbers that something above or the sink uses."""
    relations = query.relations
    wanted: list[Needs] = [frozenset()] * len(relations)
    if relations:
        wanted[-1] = _ids(relations[-1].outputs)
    for index in range(len(relations) - 1, -1, -1):
        relation = relations[index]
        for slot, below in enumerate(relation.inputs):
            given = _ids(relations[below].outputs)
            wanted[below] = _below(relation, wanted[index], slot, relations[below]) & given
    return tuple(wanted)


def _ids(columns: tuple[Column, ...]) -> Needs:
    return frozenset(c.id for c in columns if c.id is not None)


def _refs(*texts: str | None) -> Needs:
    return frozenset().union(*(references(t) for t in texts if t))


def _below(relation: Relation, wanted: Needs, slot: int, below: Relation) -> Needs:
    """Return what the relation needs of its input number `slot`."""
    match relation.kind:
        case "project":
            made = [c for c in relation.outputs if c.id in wanted or c.id is None]
            return _refs(*(c.text for c in made))
        case "aggregate" | "session_aggregate":
            made = [c for c in relation.outputs if c.id in wanted or c.id is None]
            return _refs(*relation.keys, *relation.functions, *(c.text for c in made))
        case "union":
            return _by_position(relation.outputs, below.outputs, wanted)
        case "map_groups" | "transform_with_state" | "unknown":
            return _ids(below.outputs)
        case "watermark":
            return wanted | _refs(relation.extra.get("column"))
    if relation.kind.startswith(("map_", "flat_", "append_", "serialize_", "deserialize_")):
        return _ids(below.outputs)
    made_here = _refs(*(c.text for c in relation.outputs if c.id in wanted))
    own = _refs(relation.condition, *relation.keys, *relation.right_keys)
    return wanted | own | made_here


def _by_position(outer: tuple[Column, ...], inner: tuple[Column, ...], wanted: Needs) -> Needs:
    pairs = zip(outer, inner, strict=False)
    return frozenset(i.id for o, i in pairs if o.id in wanted and i.id is not None)
