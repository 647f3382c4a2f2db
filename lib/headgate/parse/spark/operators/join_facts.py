"""The keys, conditions and stored columns of a join, in terms of source columns."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.operators.facts import Facts, Resolving, attribute_ids, conjuncts
from headgate.parse.spark.operators.relation import Relation


def join_facts(relation: Relation, state: Resolving, number: int | None) -> Facts:
    """Return a join's facts; equalities between its sides are keys, however they are written."""
    streams = relation.kind == "stream_join"
    local = conjuncts(parse(relation.condition or ""))
    left, right = _sides(relation, local, state)
    keys, right_keys = list(relation.keys), list(relation.right_keys)
    whole = conjuncts(state.parse(relation.condition or ""))
    lefts, rights = [state.parse(k) for k in keys], [state.parse(k) for k in right_keys]
    rest: list[Term] = []
    sides: list[tuple[int, Term, frozenset[int]]] = []
    if len(whole) != len(local):
        local = whole
    for plain, found in zip(local, whole, strict=True):
        refs = attribute_ids(plain)
        side = _equality(plain, left, right)
        slot = _only_side(refs, left, right, relation.join_type)
        if side is not None:
            lefts.append(found.args[side])
            rights.append(found.args[1 - side])
        elif slot is not None:
            sides.append((slot, found, refs))
        else:
            rest.append(found)
    return Facts(
        operator_id=number,
        keys=tuple(lefts),
        right_keys=tuple(rights),
        conditions=tuple(rest),
        sides=tuple(sides),
        stored=tuple(_stored(i, state) for i in relation.inputs) if streams else (),
    )


def _stored(index: int, state: Resolving) -> tuple[Term, ...]:
    """Return the columns of an input that something above uses: what a join keeps of it."""
    brought = state.needs[index]
    ids = [c.id for c in state.columns(index) if c.id is not None and c.id in brought]
    return tuple(state.terms[i] for i in ids if i in state.terms)


def _only_side(
    refs: frozenset[int], left: frozenset[int], right: frozenset[int], kind: str | None
) -> int | None:
    """Return the input that the optimiser evaluates a one-sided join condition on."""
    if refs and refs <= left and kind in ("Inner", "Cross", "RightOuter", "LeftSemi"):
        return 0
    if refs and refs <= right and kind in ("Inner", "Cross", "LeftOuter", "LeftSemi", "LeftAnti"):
        return 1
    return None


def _sides(
    relation: Relation, conditions: Sequence[Term], state: Resolving
) -> tuple[frozenset[int], frozenset[int]]:
    """Return which attributes of a join's conditions come from its left input, and its right."""
    wanted = frozenset().union(*(attribute_ids(c) for c in conditions))
    if not wanted:
        return frozenset(), frozenset()
    left, right = (
        frozenset(c.id for c in state.columns(i) if c.id is not None and c.id in wanted)
        for i in relation.inputs[:2]
    )
    return left, right


def _equality(found: Term, left: frozenset[int], right: frozenset[int]) -> int | None:
    """Return which argument of an equality is of the left side, None if it isn't a join key."""
    if found.kind != "binary" or found.name not in ("=", "<=>"):
        return None
    first, second = (attribute_ids(a) for a in found.args)
    if first and second and first <= left and second <= right:
        return 0
    if first and second and first <= right and second <= left:
        return 1
    return None
