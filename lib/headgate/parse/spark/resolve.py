"""Resolve every operator's expressions down to source columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.parse.spark import aggregates
from headgate.parse.spark.expression import parse
from headgate.parse.spark.needs import Needs, needed
from headgate.parse.spark.plan import PHYSICAL
from headgate.parse.spark.relation import STATEFUL, Column, Query, Relation, column
from headgate.parse.spark.term import Term, term

_ORDER = re.compile(r"^(?P<by>.*) (?P<way>ASC|DESC) NULLS (?P<nulls>FIRST|LAST)$", re.S)
_RESULT = re.compile(r"\)#\d+$")
_EVALUATED = re.compile(r"^pythonUDF\d+$")
_SPECIFIED = re.compile(r" windowspecdefinition\(.*\)$", re.S)


@dataclass(frozen=True, slots=True)
class Facts:
    """What one operator does, in terms of source columns and of operators beneath.

    `computed` are columns that are more than a pick, `after` those that an aggregation computes
    from its own results. `sides` are a join's conditions on one input alone: its number, the
    condition, the attributes; `stored` are the columns that a join keeps of each input.
    `position` is a source's place among the plan's leaves. `orders` are a sort's or a window's.
    """

    operator_id: int | None = None
    position: int | None = None
    keys: tuple[Term, ...] = ()
    right_keys: tuple[Term, ...] = ()
    functions: tuple[Term, ...] = ()
    conditions: tuple[Term, ...] = ()
    column: Term | None = None
    sides: tuple[tuple[int, Term, frozenset[int]], ...] = ()
    stored: tuple[tuple[Term, ...], ...] = ()
    computed: tuple[tuple[str, Term], ...] = ()
    after: tuple[tuple[str, Term], ...] = ()
    orders: tuple[Term, ...] = ()


@dataclass(slots=True)
class _State:
    """What is known on the way from the sources to the sink; `terms` are attributes so far."""

    query: Query
    needs: Sequence[Needs]
    numbers: Mapping[int, int]
    positions: Mapping[int, int]
    terms: dict[int, Term] = field(default_factory=dict)

    def look(self, number: int, name: str) -> Term | None:
        return self.terms.get(number)

    def parse(self, text: str) -> Term:
        return parse(text, self.look)

    def columns(self, index: int) -> tuple[Column, ...]:
        return self.query.relations[index].outputs


@dataclass(frozen=True, slots=True)
class Resolved:
    """A query with the facts of each of its relations and the columns that each must bring."""

    query: Query
    facts: tuple[Facts, ...]
    needs: tuple[Needs, ...]


def resolve(query: Query) -> Resolved:
    """Return the query's facts; `streaming` must be settled before."""
    needs = needed(query)
    order = top_down(query.relations)
    state = _State(query, needs, _operator_ids(query, order), _positions(query, order))
    facts = tuple(
        [_facts(index, relation, state) for index, relation in enumerate(query.relations)]
    )
    return Resolved(query, facts, needs)


def top_down(relations: Sequence[Relation]) -> list[int]:
    """Return indices from the sink up, left inputs first: the order of Spark's operator ids."""
    order: list[int] = []
    stack = [len(relations) - 1] if relations else []
    while stack:
        index = stack.pop()
        order.append(index)
        stack += relations[index].inputs[::-1]
    return order


def _operator_ids(query: Query, order: Sequence[int]) -> dict[int, int]:
    """Number the stateful operators as Spark does; a physical plan says the numbers itself."""
    out: dict[int, int] = {}
    for index in order:
        relation = query.relations[index]
        if not is_stateful(relation, query.form):
            continue
        said = relation.state.operator_id if relation.state else None
        out[index] = len(out) if said is None else said
    return out


def is_stateful(relation: Relation, form: str) -> bool:
    """Whether the operator keeps state: a physical plan shows it, a logical one implies it."""
    if relation.kind not in STATEFUL:
        return False
    if form in PHYSICAL:
        return relation.state is not None
    return bool(relation.streaming) and "batch_limit" not in relation.extra


def _positions(query: Query, order: Sequence[int]) -> dict[int, int]:
    """Number leaves in the plan's order; leaves that make the same attributes are one source."""
    out: dict[int, int] = {}
    seen: dict[frozenset[int | None], int] = {}
    statics = 0
    for index in order:
        relation = query.relations[index]
        if relation.kind == "source":
            key = frozenset([c.id for c in relation.outputs]) or frozenset((-index,))
            out[index] = seen.setdefault(key, len(seen))
        elif relation.kind == "static":
            out[index] = statics
            statics += 1
    return out


def _facts(index: int, relation: Relation, state: _State) -> Facts:
    number = state.numbers.get(index)
    match relation.kind:
        case "source" | "static":
            return _leaf(relation, state.positions.get(index, 0), state)
        case "project":
            return _project(relation, state, state.needs[index])
        case "expand":
            return _expand(relation, state)
        case "generate":
            return _generate(relation, state)
        case "window":
            return _window(relation, state, number)
        case "sort":
            return Facts(orders=tuple(_order(k, state) for k in relation.keys))
        case "observe":
            calls = (column(f).text or f for f in relation.functions)
            return Facts(functions=tuple(state.parse(c) for c in calls))
        case "aggregate" | "session_aggregate":
            return _aggregate(relation, state, state.needs[index], number)
        case "union":
            return _union(relation, state)
        case "filter":
            return Facts(conditions=conjuncts(state.parse(relation.condition or "")))
        case "watermark":
            return Facts(column=state.parse(relation.extra.get("column", "")))
        case "stream_join" | "static_join":
            return _join(relation, state, number)
        case "map_groups" | "transform_with_state" | "unknown":
            return _opaque(relation, state, number)
        case "deduplicate" | "deduplicate_within_watermark" | "exchange":
            return Facts(operator_id=number, keys=tuple(map(state.parse, relation.keys)))
    if _makes_new(relation):
        return _opaque(relation, state, number)
    return Facts(operator_id=number)


def _makes_new(relation: Relation) -> bool:
    return any(c.text is None for c in relation.outputs) and relation.kind.startswith(
        ("map_", "flat_", "append_", "serialize_", "deserialize_", "script", "co_group")
    )


def _leaf(relation: Relation, position: int, state: _State) -> Facts:
    prefix = "s" if relation.kind == "source" else "static"
    for made in relation.outputs:
        if made.id is not None:
            state.terms[made.id] = term("attribute", f"{prefix}{position}.{made.name}")
    return Facts(position=position)


def _project(relation: Relation, state: _State, needs: Needs) -> Facts:
    made: list[tuple[Column, Term]] = []
    for new in relation.outputs:
        if new.text is None or (new.id is not None and new.id not in needs):
            continue
        # A column that is passed on keeps its number, and what that means.
        passed = new.id in state.terms and new.text.startswith(f"{new.name}#{new.id}")
        if not passed or new.is_computed:
            made.append((new, state.parse(new.text)))
    for new, found in made:
        if new.id is not None:
            state.terms[new.id] = found
    return Facts(computed=tuple((new.name, t) for new, t in made if _is_more(new, t)))


def _expand(relation: Relation, state: _State) -> Facts:
    """A row for each projection; a column that differs between them is all that it may be."""
    rows = [state.parse(f) for f in relation.functions]
    made = [(c, state.parse(c.text)) for c in relation.outputs if c.text is not None]
    differing = iter(zip(*(r.args for r in rows), strict=False))
    for new, found in made:
        differs = f"{new.name}#{new.id}" in relation.keys
        values = next(differing, ()) if differs else (found,)
        if new.id is not None:
            state.terms[new.id] = found if len(values) < 2 else term("call", "expand", values)
    _begin((c for c in relation.outputs if c.text is None), "expand", state)
    return Facts(functions=tuple(rows))


def _generate(relation: Relation, state: _State) -> Facts:
    """Each column that a generator makes is the call; of several, that column of the call."""
    call = state.parse(_RESULT.sub(")", relation.condition or ""))
    new = [c for c in relation.outputs if c.text is None and c.id not in state.terms]
    for made in new:
        if made.id is not None:
            state.terms[made.id] = call if len(new) == 1 else term("field", made.name, (call,))
    return Facts(functions=(call,))


def _window(relation: Relation, state: _State, number: int | None) -> Facts:
    calls = tuple(state.parse(_SPECIFIED.sub("", f)) for f in relation.functions)
    new = [c for c in relation.outputs if c.text is not None and c.text in relation.functions]
    for made, call in zip(new, calls, strict=False):
        if made.id is not None:
            state.terms[made.id] = term("attribute", f"window.{call.text}")
    orders = tuple(_order(k, state) for k in relation.right_keys)
    return Facts(keys=tuple(map(state.parse, relation.keys)), functions=calls, orders=orders)


def _order(text: str, state: _State) -> Term:
    """Return `count#1L DESC NULLS LAST` with the column that it means; Spark's default unsaid."""
    match = _ORDER.match(text)
    if match is None:
        return state.parse(text)
    found = state.parse(match["by"])
    usual = "FIRST" if match["way"] == "ASC" else "LAST"
    nulls = "" if match["nulls"] == usual else f" NULLS {match['nulls']}"
    return term("raw", f"{found.text} {match['way']}{nulls}", (found,))


def _begin(columns: Iterable[Column], prefix: str, state: _State) -> None:
    for new in columns:
        if new.id is not None:
            state.terms[new.id] = term("attribute", f"{prefix}.{new.name}")


def _is_more(new: Column, found: Term) -> bool:
    if _EVALUATED.match(new.name):
        return False
    named = _EVALUATED.match((new.text or "").partition("#")[0])
    return (new.is_computed or named is not None) and found.kind != "attribute"


def _aggregate(relation: Relation, state: _State, needs: Needs, number: int | None) -> Facts:
    keys = tuple(map(state.parse, relation.keys))
    made = [
        (c, state.parse(c.text))
        for c in relation.outputs
        if c.text is not None and (c.id in needs or relation.functions)
    ]
    named_keys = {k.text for k in keys}
    given = [state.parse(f) for f in relation.functions]
    found = given or [call for _, t in made for call in _calls(t, named_keys)]
    functions = tuple({f.text: f for f in found}.values())
    bare = named_keys | {f.text for f in functions}
    prefix = "static" if number is None else f"op{number}"
    for new, value in made:
        if new.id is not None:
            of_keys = value.text in named_keys or (
                bool(keys) and _only(value, named_keys) and not aggregates.calls(value)
            )
            made_here = term("attribute", f"{prefix}.{value.text}")
            state.terms[new.id] = value if of_keys else made_here
    for opaque in (c for c in relation.outputs if c.text is None and c.id is not None):
        state.terms[opaque.id or 0] = term("attribute", f"{prefix}.{opaque.name}")
    after = tuple((c.name, t) for c, t in made if t.text not in bare and c.id in needs)
    computed = tuple(
        (k.text, k) for k, text in zip(keys, relation.keys, strict=True) if _key_is_made(text)
    )
    return Facts(operator_id=number, keys=keys, functions=functions, after=after, computed=computed)


def _key_is_made(text: str) -> bool:
    return "(" in text or " " in text.strip()


def _calls(found: Term, keys: set[str]) -> list[Term]:
    """Return the aggregate calls of one result; a function of no known name counts itself."""
    if found.text in keys:
        return []
    calls = aggregates.calls(found)
    return calls or ([found] if found.kind == "call" and not _only(found, keys) else [])


def _only(found: Term, keys: set[str]) -> bool:
    """Whether a term is made of keys and literals alone."""
    stack = [found]
    while stack:
        current = stack.pop()
        if current.text in keys:
            continue
        if current.kind == "attribute":
            return False
        stack.extend(current.args)
    return True


def _union(relation: Relation, state: _State) -> Facts:
    """A column of a union is that column of every branch."""
    branches = [state.columns(i) for i in relation.inputs]
    merged: dict[int, Term] = {}
    for position, first in enumerate(branches[0]):
        same = [b[position] for b in branches if position < len(b)]
        terms = [state.terms[c.id] for c in same if c.id in state.terms]
        if first.id is None or not terms:
            continue
        distinct = tuple({t.text: t for t in terms}.values())
        merged[first.id] = distinct[0] if len(distinct) == 1 else term("call", "union", distinct)
    state.terms.update(merged)
    return Facts()


def conjuncts(found: Term) -> tuple[Term, ...]:
    """Return the parts that AND joins, in their order."""
    out: list[Term] = []
    stack = [found]
    while stack:
        current = stack.pop()
        if current.kind == "binary" and current.name == "AND":
            stack.extend((current.args[1], current.args[0]))
        elif current.text:
            out.append(current)
    return tuple(out)


def _join(relation: Relation, state: _State, number: int | None) -> Facts:
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
        slot = _alone(refs, left, right, relation.join_type)
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


def _stored(index: int, state: _State) -> tuple[Term, ...]:
    """Return the columns of an input that something above uses: what a join keeps of it."""
    brought = state.needs[index]
    ids = [c.id for c in state.columns(index) if c.id is not None and c.id in brought]
    return tuple(state.terms[i] for i in ids if i in state.terms)


def _alone(
    refs: frozenset[int], left: frozenset[int], right: frozenset[int], kind: str | None
) -> int | None:
    """Return the input that the optimiser evaluates a one-sided join condition on."""
    if refs and refs <= left and kind in ("Inner", "Cross", "RightOuter", "LeftSemi"):
        return 0
    if refs and refs <= right and kind in ("Inner", "Cross", "LeftOuter", "LeftSemi", "LeftAnti"):
        return 1
    return None


def _sides(
    relation: Relation, conditions: Sequence[Term], state: _State
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


def attribute_ids(found: Term) -> frozenset[int]:
    """Return the numbers of the attributes in an unresolved term."""
    out: set[int] = set()
    stack = [found]
    while stack:
        current = stack.pop()
        if current.id is not None:
            out.add(current.id)
        stack.extend(current.args)
    return frozenset(out)


def _equality(found: Term, left: frozenset[int], right: frozenset[int]) -> int | None:
    """Return which argument of an equality belongs to the left side, None if it is no key."""
    if found.kind != "binary" or found.name not in ("=", "<=>"):
        return None
    first, second = (attribute_ids(a) for a in found.args)
    if first and second and first <= left and second <= right:
        return 0
    if first and second and first <= right and second <= left:
        return 1
    return None


def _opaque(relation: Relation, state: _State, number: int | None) -> Facts:
    keys = tuple(map(state.parse, relation.keys))
    known = {c.id for c in relation.outputs if c.text is not None}
    prefix = f"op{number}" if number is not None else relation.kind
    for new in relation.outputs:
        if new.id is not None and new.id not in known and new.id not in state.terms:
            state.terms[new.id] = term("attribute", f"{prefix}.{new.name}")
    return Facts(operator_id=number, keys=keys)
