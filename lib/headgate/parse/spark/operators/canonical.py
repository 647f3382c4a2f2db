"""The canonical shape of a query: operators that every form of its plan shows, with stable ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headgate.parse.spark.expression.parse import parse, references
from headgate.parse.spark.operators.facts import Facts, attribute_ids, conjuncts
from headgate.parse.spark.operators.relation import Exchange, Relation
from headgate.parse.spark.operators.resolve_columns import Resolved
from headgate.parse.spark.operators.user_functions import python_calls

SINK = "sink"
_MOST_MOVING = 32
_OBJECTS = frozenset(
    (
        "deserialize_to_object",
        "serialize_from_object",
        "append_columns",
        "append_columns_with_object",
    )
)
"""Operators that convert between rows and objects. The optimizer removes pairs of these."""
_FOLDED = frozenset(("project", "filter", "exchange", "sort", "observe")) | _OBJECTS
_RANDOM = re.compile(r"\b(?:rand|randn|uuid|monotonically_increasing_id|spark_partition_id)\(")


@dataclass(slots=True)
class Inlet:
    """What happens between an operator and the one that feeds it, besides other operators.

    `required` is the engine's exchange, `wanted` are the user's. Filters and projections are where
    the optimiser would put them, so that every form of a plan has them at the same inlet.
    """

    filters: dict[str, None] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)
    required: Exchange | None = None
    wanted: list[Exchange] = field(default_factory=list)
    orders: list[str] = field(default_factory=list)
    observed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, None] = field(default_factory=dict)
    user_functions: dict[str, None] = field(default_factory=dict)
    inferred: frozenset[str] = frozenset()


@dataclass(slots=True)
class Anchor:
    """An operator that every form shows. `parent` is the next one towards the sink."""

    id: str
    word: str
    parent: str | None
    slot: int
    relation: Relation | None
    facts: Facts
    inlets: list[Inlet] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Shape:
    """Anchors by id, the sink first; `sink` is what a form says of it."""

    anchors: Mapping[str, Anchor]
    resolved: Resolved
    sink: Mapping[str, str] = field(default_factory=dict)

    @property
    def hides_sources(self) -> bool:
        """Whether the last batch was planned without a source that had no data."""
        query = self.resolved.query
        return query.hides_sources or query.has_empty_batch


def node_id(word: str, parent: str, slot: int | str) -> str:
    """Return the id of what feeds `parent` through its input `slot`: never of attribute numbers."""
    digest = hashlib.sha256(f"{parent}|{slot}|{word}".encode()).hexdigest()
    return f"{word}-{digest[:10]}"


@dataclass(frozen=True, slots=True)
class _Condition:
    """A conjunct of a filter on its way to where it belongs: its text and what it refers to."""

    text: str
    refs: frozenset[int]
    movable: bool


@dataclass(slots=True)
class _Visit:
    index: int
    anchor: Anchor
    slot: int
    pending: list[_Condition]


def shape(resolved: Resolved) -> Shape:
    """Return the canonical shape of a resolved query."""
    root = Anchor(SINK, SINK, None, 0, None, Facts(), [Inlet()])
    anchors = {SINK: root}
    relations = resolved.query.relations
    stack = [_Visit(len(relations) - 1, root, 0, [])] if relations else []
    while stack:
        visit = stack.pop()
        relation = relations[visit.index]
        if relation.kind in _FOLDED:
            stack.append(_fold(visit, relation, resolved))
        elif relation.extra.get("no_columns"):
            continue
        else:
            stack.extend(_anchor(visit, relation, resolved, anchors))
    return Shape(anchors, resolved, resolved.query.sink)


def _inlet(visit: _Visit) -> Inlet:
    return visit.anchor.inlets[visit.slot]


def _fold(visit: _Visit, relation: Relation, resolved: Resolved) -> _Visit:
    """Note what happens on the way, and continue upstream."""
    facts = resolved.facts[visit.index]
    inlet = _inlet(visit)
    pending = visit.pending
    if relation.kind != "exchange" and any(relation.exchanges):
        inlet.required = next((e for e in relation.exchanges if e is not None), inlet.required)
    match relation.kind:
        case "project":
            inlet.computed.update({name: t.text for name, t in facts.computed})
            _note_functions(inlet, [c.text for c in relation.outputs])
            pending = _through(pending, relation)
        case "filter":
            inlet.tables.update(dict.fromkeys(_tables(relation)))
            _note_functions(inlet, (relation.condition,))
            pending = [*pending, *_conditions(relation, facts)]
            # More than that in one stretch is no query that a person wrote: keep it linear.
            if len(pending) > _MOST_MOVING:
                inlet.filters.update(dict.fromkeys([c.text for c in pending[_MOST_MOVING:]]))
                pending = pending[:_MOST_MOVING]
        case "sort":
            inlet.orders = inlet.orders or [o.text for o in facts.orders] or ["?"]
        case "observe":
            name = relation.extra.get("name", "")
            inlet.observed[name] = tuple(f.text for f in facts.functions)
        case "exchange":
            inlet.wanted.extend(e for e in relation.exchanges if e is not None)
    return _Visit(relation.inputs[0], visit.anchor, visit.slot, pending)


def _note_functions(inlet: Inlet, texts: Iterable[str | None]) -> None:
    for text in texts:
        if text and ")#" in text:
            inlet.user_functions.update(dict.fromkeys(python_calls(text)))


def _tables(relation: Relation) -> list[str]:
    """Return what the subqueries of a filter read."""
    said = relation.extra.get("subquery_reads", "")
    return said.split(", ") if said else []


def _conditions(relation: Relation, facts: Facts) -> list[_Condition]:
    if len(facts.conditions) == 1:
        (found,) = facts.conditions
        refs = references(relation.condition or "")
        return [_Condition(found.text, refs, not _RANDOM.search(found.text))]
    local = conjuncts(parse(relation.condition or ""))
    if len(local) != len(facts.conditions):
        refs = references(relation.condition or "")
        return [_Condition(c.text, refs, False) for c in facts.conditions]
    return [
        _Condition(found.text, attribute_ids(plain), not _RANDOM.search(found.text))
        for plain, found in zip(local, facts.conditions, strict=True)
    ]


def _through(pending: list[_Condition], relation: Relation) -> list[_Condition]:
    """Say conditions in terms of the columns beneath a projection."""
    if not pending:
        return pending
    made = {c.id: c.text for c in relation.outputs if c.id is not None and c.text is not None}
    out = []
    for condition in pending:
        refs: set[int] = set()
        for number in condition.refs:
            text = made.get(number)
            refs |= {number} if text is None else references(text)
        out.append(_Condition(condition.text, frozenset(refs), condition.movable))
    return out


def _anchor(
    visit: _Visit, relation: Relation, resolved: Resolved, anchors: dict[str, Anchor]
) -> list[_Visit]:
    facts = resolved.facts[visit.index]
    word = _word(relation, facts)
    anchor = Anchor(
        id=node_id("source" if relation.kind == "static" else word, visit.anchor.id, visit.slot),
        word=word,
        parent=visit.anchor.id,
        slot=visit.slot,
        relation=relation,
        facts=facts,
    )
    anchors[anchor.id] = anchor
    visit.anchor.inputs.append(anchor.id)
    down = _inlet(visit)
    down.computed.update({name: t.text for name, t in facts.after})
    inputs = relation.inputs
    anchor.inlets = [Inlet() for _ in inputs]
    passed = _split(visit.pending, relation, facts, resolved, down)
    for slot, exchange in enumerate(relation.exchanges[: len(inputs)]):
        if exchange is not None:
            anchor.inlets[slot].required = exchange
    if facts.computed and anchor.inlets:
        anchor.inlets[0].computed.update({name: t.text for name, t in facts.computed})
    visits = [_Visit(i, anchor, slot, passed[slot]) for slot, i in enumerate(inputs)]
    return visits[::-1]


def _word(relation: Relation, facts: Facts) -> str:
    if relation.kind == "aggregate" and any(k.name == "session_window" for k in facts.keys):
        return "session_aggregate"
    return relation.kind


def _split(
    pending: list[_Condition],
    relation: Relation,
    facts: Facts,
    resolved: Resolved,
    down: Inlet,
) -> list[list[_Condition]]:
    """Split conditions into those that stay downstream and those that go up, input by input."""
    passed: list[list[_Condition]] = [[] for _ in relation.inputs]
    for condition in pending:
        slots = _goes(condition, relation, resolved)
        if not slots:
            down.filters[condition.text] = None
        for slot, lifted in slots:
            passed[slot].append(lifted)
    for slot, found, refs in facts.sides:
        passed[slot].append(_Condition(found.text, refs, True))
    return passed


def _goes(
    condition: _Condition, relation: Relation, resolved: Resolved
) -> list[tuple[int, _Condition]]:
    """Return the inputs that a condition moves to, as the optimiser's push-down decides."""
    if not condition.movable or not relation.inputs or not condition.refs:
        return []
    match relation.kind:
        case "watermark":
            blocked = references(relation.extra.get("column", ""))
            return [] if condition.refs & blocked else [(0, condition)]
        case "union":
            return _into_branches(condition, relation, resolved)
        case "aggregate" | "session_aggregate":
            return _below_aggregate(condition, relation)
        case "generate":
            reach = _outputs(relation.inputs[0], resolved)
            return [(0, condition)] if condition.refs <= reach else []
        case "stream_join" | "static_join":
            return _into_sides(condition, relation, resolved)
    return []


def _outputs(index: int, resolved: Resolved) -> frozenset[int]:
    columns = resolved.query.relations[index].outputs
    return frozenset(c.id for c in columns if c.id is not None)


def _into_branches(
    condition: _Condition, relation: Relation, resolved: Resolved
) -> list[tuple[int, _Condition]]:
    positions = {c.id: n for n, c in enumerate(relation.outputs)}
    if not condition.refs <= positions.keys():
        return []
    lifted = []
    for slot, index in enumerate(relation.inputs):
        columns = resolved.query.relations[index].outputs
        found = (columns[positions[r]].id for r in condition.refs if positions[r] < len(columns))
        refs = frozenset(r for r in found if r is not None)
        lifted.append((slot, _Condition(condition.text, refs, True)))
    return lifted


def _below_aggregate(condition: _Condition, relation: Relation) -> list[tuple[int, _Condition]]:
    key_refs = {r for k in relation.keys for r in references(k)}
    made = {c.id: references(c.text or "") for c in relation.outputs if c.id is not None}
    refs = frozenset().union(*(made.get(r, frozenset((r,))) for r in condition.refs))
    plain = {c.id for c in relation.outputs if not c.is_computed}
    if refs and refs <= key_refs and condition.refs <= plain | key_refs:
        return [(0, _Condition(condition.text, refs, True))]
    return []


_LEFT_SAFE = frozenset(("Inner", "Cross", "LeftOuter", "LeftSemi", "LeftAnti"))
_RIGHT_SAFE = frozenset(("Inner", "Cross", "RightOuter"))


def _into_sides(
    condition: _Condition, relation: Relation, resolved: Resolved
) -> list[tuple[int, _Condition]]:
    left, right = (_outputs(i, resolved) for i in relation.inputs[:2])
    if condition.refs <= left and relation.join_type in _LEFT_SAFE:
        return [(0, condition)]
    if condition.refs <= right and relation.join_type in _RIGHT_SAFE:
        return [(1, condition)]
    return []
