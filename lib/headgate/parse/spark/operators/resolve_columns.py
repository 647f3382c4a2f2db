"""Resolve every operator's expressions down to source columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.parse.spark.explain.printed_plan import PHYSICAL
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.term import Term, term
from headgate.parse.spark.operators.aggregate_facts import aggregate_facts
from headgate.parse.spark.operators.column_pruning import Needs, needed
from headgate.parse.spark.operators.facts import Facts, Resolving, conjuncts
from headgate.parse.spark.operators.join_facts import join_facts
from headgate.parse.spark.operators.relation import STATEFUL, Column, Query, Relation, column
from headgate.parse.spark.operators.streaming import is_settled

_ORDER = re.compile(r"^(?P<by>.*) (?P<way>ASC|DESC) NULLS (?P<nulls>FIRST|LAST)$", re.S)
_RESULT = re.compile(r"\)#\d+$")
_EVALUATED = re.compile(r"^pythonUDF\d+$")
_SPECIFIED = re.compile(r" windowspecdefinition\(.*\)$", re.S)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A query with the facts of each of its relations and the columns that each must bring.

    `terms` are the attributes by number, in terms of source columns, as the sink sees them.
    """

    query: Query
    facts: tuple[Facts, ...]
    needs: tuple[Needs, ...]
    terms: Mapping[int, Term] = field(default_factory=dict)


def resolve(query: Query, elements: Mapping[int, tuple[str, ...]] | None = None) -> Resolved:
    """Return the query's facts; `streaming` must be settled before.

    `elements` are the names of the fields of arrays of structs, by attribute, where they are known.
    """
    needs = needed(query)
    order = top_down(query.relations)
    numbers, positions = _operator_ids(query, order), _positions(query, order)
    state = Resolving(query, needs, numbers, positions, is_settled(query), elements=elements or {})
    facts = tuple(
        [_facts(index, relation, state) for index, relation in enumerate(query.relations)]
    )
    return Resolved(query, facts, needs, state.terms)


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


def _facts(index: int, relation: Relation, state: Resolving) -> Facts:
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
            return _window(relation, state)
        case "sort":
            return Facts(orders=tuple(_order(k, state) for k in relation.keys))
        case "observe":
            calls = (column(f).text or f for f in relation.functions)
            return Facts(functions=tuple(state.parse(c) for c in calls))
        case "aggregate" | "session_aggregate":
            return aggregate_facts(relation, state, state.needs[index], number)
        case "union":
            return _union(relation, state)
        case "filter":
            return Facts(conditions=conjuncts(state.parse(relation.condition or "")))
        case "watermark":
            return Facts(column=state.parse(relation.extra.get("column", "")))
        case "stream_join" | "static_join":
            return join_facts(relation, state, number)
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


def _leaf(relation: Relation, position: int, state: Resolving) -> Facts:
    prefix = "s" if relation.kind == "source" else "static"
    # What stands for a source without data, or may be one of two, has no position to be named by.
    named = not relation.extra.get("empty") and (state.settled or relation.kind == "static")
    for made in relation.outputs if named else ():
        if made.id is not None:
            state.terms[made.id] = term("attribute", f"{prefix}{position}.{made.name}")
    return Facts(position=position)


def _project(relation: Relation, state: Resolving, needs: Needs) -> Facts:
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


def _expand(relation: Relation, state: Resolving) -> Facts:
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


# More rows are spelled out by hand in no query that anybody writes.
_ROWS_OF_STACK = frozenset(map(str, range(1, 100)))


def _generate(relation: Relation, state: Resolving) -> Facts:
    """Each column that a generator makes is the call; of several, the one at its position in it."""
    written = _RESULT.sub(")", relation.condition or "")
    call = state.parse(written)
    new = [c for c in relation.outputs if c.text is None and c.id not in state.terms]
    is_inline = call.name.lower() == "inline"
    fields = _inlined(parse(written, lambda *_: None), state) if is_inline else ()
    element = term("call", "explode", tuple(map(_unfiltered, call.args)))
    for index, made in enumerate(new):
        if made.id is None:
            continue
        if stacked := _stacked(call, index, len(new)):
            state.terms[made.id] = stacked
        elif len(fields) == len(new):
            state.terms[made.id] = term("field", fields[index], (element,))
        elif len(new) > 1:
            state.terms[made.id] = _generated(call, element, index, len(new))
        else:
            state.terms[made.id] = element if call.name.lower() == "explode" else call
    return Facts(functions=(call,))


def _stacked(call: Term, index: int, number: int) -> Term | None:
    """Return a column of `stack(n, ...)` as that of an `Expand` with the same rows (UNPIVOT)."""
    if call.name.lower() != "stack" or not call.args or call.args[0].text not in _ROWS_OF_STACK:
        return None
    values = call.args[1:]
    rows = int(call.args[0].text)
    if len(values) != rows * number:
        return None
    return values[index] if rows == 1 else term("call", "expand", values[index::number])


def _inlined(call: Term, state: Resolving) -> tuple[str, ...]:
    """Return the fields that `inline` makes columns of, in their order; none if not known.

    The columns that `inline(items)` makes are the fields of what `explode(items)` makes.
    """
    if len(call.args) != 1:
        return ()
    array = _unfiltered(call.args[0])
    if array.kind != "attribute" or array.id is None:
        return ()
    fields = state.elements.get(array.id, ())
    # Two fields of one name can't be told apart by it.
    return fields if len(set(fields)) == len(fields) else ()


def _unfiltered(array: Term) -> Term:
    """Return the array whose elements `filter(array, ...)` keeps: each is what it was in there."""
    while array.kind == "call" and array.name.lower() == "filter" and len(array.args) == 2:
        array = array.args[0]
    return array


def _generated(call: Term, element: Term, index: int, number: int) -> Term:
    """Return one column of a generator that makes several, by position: names are the user's.

    `posexplode` of an array gives what `explode` gives, and its position; of a map three columns.
    """
    if call.name.lower() == "posexplode" and (index, number) == (1, 2):
        return element
    base = term("call", "inline", element.args) if call.name.lower() == "inline" else call
    return term("field", str(index), (base,))


def _window(relation: Relation, state: Resolving) -> Facts:
    calls = tuple(state.parse(_SPECIFIED.sub("", f)) for f in relation.functions)
    new = [c for c in relation.outputs if c.text is not None and c.text in relation.functions]
    for made, call in zip(new, calls, strict=False):
        if made.id is not None:
            state.terms[made.id] = term("attribute", f"window.{call.text}")
    orders = tuple(_order(k, state) for k in relation.right_keys)
    return Facts(keys=tuple(map(state.parse, relation.keys)), functions=calls, orders=orders)


def _order(text: str, state: Resolving) -> Term:
    """Return `count#1L DESC NULLS LAST` with the column that it means; Spark's default unsaid."""
    match = _ORDER.match(text)
    if match is None:
        return state.parse(text)
    found = state.parse(match["by"])
    usual = "FIRST" if match["way"] == "ASC" else "LAST"
    nulls = "" if match["nulls"] == usual else f" NULLS {match['nulls']}"
    return term("raw", f"{found.text} {match['way']}{nulls}", (found,))


def _begin(columns: Iterable[Column], prefix: str, state: Resolving) -> None:
    for new in columns:
        if new.id is not None:
            state.terms[new.id] = term("attribute", f"{prefix}.{new.name}")


def _is_more(new: Column, found: Term) -> bool:
    if _EVALUATED.match(new.name):
        return False
    named = _EVALUATED.match((new.text or "").partition("#")[0])
    return (new.is_computed or named is not None) and found.kind != "attribute"


def _union(relation: Relation, state: Resolving) -> Facts:
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


def _opaque(relation: Relation, state: Resolving, number: int | None) -> Facts:
    keys = tuple(map(state.parse, relation.keys))
    known = {c.id for c in relation.outputs if c.text is not None}
    prefix = f"op{number}" if number is not None else relation.kind
    for new in relation.outputs:
        if new.id is not None and new.id not in known and new.id not in state.terms:
            state.terms[new.id] = term("attribute", f"{prefix}.{new.name}")
    return Facts(operator_id=number, keys=keys)
