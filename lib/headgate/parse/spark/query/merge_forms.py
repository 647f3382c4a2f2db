"""Let the forms of one query complete each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headgate.parse.spark.operators.canonical import Anchor, Inlet, Shape

_STRUCTURE = ("formatted", "physical", "executed", "optimized", "json", "analyzed", "parsed")
_FACTS = ("formatted", "optimized", "json", "analyzed", "physical", "executed", "parsed")
_WHOLE = ("json", "analyzed")
_WRITTEN = ("analyzed", "parsed", "json")


@dataclass(frozen=True, slots=True)
class Merged:
    """One shape out of several; `warnings` say where they contradict each other."""

    shape: Shape | None
    warnings: tuple[str, ...] = ()


def merge(shapes: Sequence[Shape]) -> Merged | None:
    """Return the shape that shows most, completed by what the others say of the same ids."""
    if not shapes:
        return None
    if len(shapes) == 1:
        return Merged(shapes[0])
    ordered = sorted(shapes, key=lambda s: _STRUCTURE.index(_form(s)))
    base = _base(ordered)
    others = [s for s in ordered if s is not base]
    resolved = [s for s in [base, *others] if _form(s) != "parsed"] or [base]
    by_facts = sorted(resolved, key=lambda s: _rank(s, base))
    anchors = {key: _merged(key, anchor, by_facts) for key, anchor in base.anchors.items()}
    empty = any(s.resolved.query.hides_sources or s.resolved.query.has_empty_batch for s in shapes)
    compared = [] if empty else others
    warnings = [w for other in compared if (w := _contradiction(base, other))]
    sink = next((s.sink for s in shapes if s.sink.keys() & {"sink", "table"}), {})
    return Merged(Shape(anchors, base.resolved, sink), tuple(dict.fromkeys(warnings)))


def _form(shape: Shape) -> str:
    return shape.resolved.query.form


def _base(ordered: Sequence[Shape]) -> Shape:
    """Return the richest form that does not hide what an analysed one shows."""
    whole = [s for s in ordered if _form(s) in _WHOLE and not s.resolved.query.hides_sources]
    for candidate in ordered:
        hides = bool(whole) and candidate.resolved.query.hides_sources
        if not hides and all(s.anchors.keys() <= candidate.anchors.keys() for s in whole):
            return candidate
    return whole[0] if whole else ordered[0]


def _rank(shape: Shape, base: Shape) -> int:
    hides = shape.resolved.query.hides_sources or not (base.anchors.keys() <= shape.anchors.keys())
    return _FACTS.index(_form(shape)) + (len(_FACTS) if hides else 0)


def _merged(key: str, anchor: Anchor, shapes: Sequence[Shape]) -> Anchor:
    same = [s.anchors[key] for s in shapes if key in s.anchors]
    best = same[0]
    inlets = [
        _inlet([a.inlets[slot] for a in same if slot < len(a.inlets)])
        for slot in range(len(anchor.inlets))
    ]
    written = [s.anchors[key] for s in shapes if key in s.anchors and _form(s) in _WRITTEN]
    for slot, inlet in enumerate(inlets):
        inlet.inferred = _inferred(inlet, [a.inlets[slot] for a in written if slot < len(a.inlets)])
    relation = anchor.relation
    for other in same:
        if relation is not None and other.relation is not None:
            state = relation.state or other.relation.state
            if other.relation.state and other.relation.state.started:
                state = other.relation.state
            extra = {**other.relation.extra, **relation.extra}
            relation = replace(relation, state=state, extra=extra)
    number = next((a.facts.operator_id for a in same if a.relation and a.relation.state), None)
    facts = best.facts if number is None else replace(best.facts, operator_id=number)
    if best.relation is not None and relation is not None:
        relation = replace(relation, join_type=best.relation.join_type)
    return Anchor(
        anchor.id, anchor.word, anchor.parent, anchor.slot, relation, facts, inlets, anchor.inputs
    )


def _inferred(inlet: Inlet, written: Sequence[Inlet]) -> frozenset[str]:
    """Return the filters that the optimiser added; none without an analysed form to compare."""
    if not written:
        return frozenset()
    own = {f for w in written for f in w.filters}
    return frozenset(f for f in inlet.filters if f.startswith("isnotnull(") and f not in own)


def _inlet(same: Sequence[Inlet]) -> Inlet:
    """Let the forms complete each other; conditions are the first one's that has any.

    The optimiser splits, moves and infers conditions: those of two forms are not to be mixed.
    """
    out = Inlet()
    for inlet in same:
        if not out.filters:
            out.filters.update(inlet.filters)
        for name, text in inlet.computed.items():
            out.computed.setdefault(name, text)
        out.required = out.required or inlet.required
        out.wanted = out.wanted or inlet.wanted
        out.orders = out.orders or inlet.orders
        out.user_functions.update(inlet.user_functions)
        out.tables.update(inlet.tables)
        for name, calls in inlet.observed.items():
            out.observed.setdefault(name, calls)
    return out


def _contradiction(base: Shape, other: Shape) -> str | None:
    """Say so where two forms show different operators."""
    if other.anchors.keys() <= base.anchors.keys() or _form(other) == "parsed":
        return None
    if _is_pushed_down(base, other):
        return None
    return (
        f"the {_form(other)} plan and the {_form(base)} plan show different operators:"
        f" Headgate uses the {_form(base)} plan"
    )


# Ids name the way to the sink: what the optimiser exchanges, and what is above, gets others.
_EXCHANGED = frozenset({"static_join", "watermark", "source", "static"})


def _is_pushed_down(base: Shape, other: Shape) -> bool:
    """Say whether both have the same operators, and the optimiser exchanged a join and a watermark.

    Source: `PushDownLeftSemiAntiJoin`; measured on 4.2.0 for IN with a subquery.
    """
    words, ids = [], []
    for anchors in (base.anchors.values(), other.anchors.values()):
        words.append(Counter(a.word for a in anchors))
        ids.append({a.id for a in anchors if a.word not in _EXCHANGED})
    return words[0] == words[1] and ids[0] == ids[1]
