"""The state schemas that a query will need, derived from its plans before it starts.

The physical plan (best: `formatted`) says which columns are stored after pruning, the analysed
plan's JSON says their types and nullability. Without JSON the number of columns is certain and
little else. Source: what the operators of 4.2.0 wrote, see
`tests/parse/spark/query/test_expected_schemas.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

from headgate.model.state_schema import Field, Schema
from headgate.parse.spark.explain.arguments import listed, split
from headgate.parse.spark.explain.printed_plan import Plan, PlanNode
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.types import WINDOW, sql_type, typed
from headgate.parse.spark.operators.relation import column
from headgate.parse.spark.state.aggregation_buffers import argument_types, buffer_fields
from headgate.parse.spark.state.plan_columns import Columns, Flowing, Types, flow, lookup

_OPERATOR = re.compile(r"opId = (\d{1,9})")
_STATE_FIELD = re.compile(r"StructField\(([^,()]+),(\w+(?:\(\d+,-?\d+\))?),(true|false)\)")
_ENCODED = re.compile(r"(?P<name>\w+)\[\d+\]: (?P<kind>[\w(),<>: ]+)")
_CUT = "more fields"
_AGGREGATES = ("StateStoreSave", "SessionWindowStateStoreSave")
Stores = dict[str, tuple[Schema, Schema]]


def planned_state(plan: Plan, types: Types) -> dict[int, Stores]:
    """Return {operator id: {store: (key schema, value schema)}} of a physical plan.

    A field's unknown type or nullability is None. Operators whose state only their code knows are
    left out.
    """
    if not any(n.name in _DERIVE for n in plan.nodes):
        return {}
    context = _Context(plan, types)
    out: dict[int, Stores] = {}
    for node in plan.nodes:
        number = _OPERATOR.search(node.argument())
        derive = _DERIVE.get(node.name)
        if number is None or derive is None or not node.children:
            continue
        inputs = [context.columns[c] for c in node.children]
        whole = _with_all_keys(node, context)
        out[int(number[1])] = derive(whole, inputs, context) if whole else {}
    return out


def _with_all_keys(node: PlanNode, context: _Context) -> PlanNode | None:
    """Return a state operator with the keys that Spark cut from its arguments.

    The details of the aggregation below list all of them. None if columns stay unknown: part of a
    list doesn't give a schema.
    """
    aggregation = _aggregation(node, context) if node.name in _AGGREGATES else None
    keys = aggregation.fields.get("Keys") if aggregation else None
    whole = node
    if keys and node.name == "StateStoreSave" and _CUT in (given := split(node.argument()))[0]:
        whole = replace(node, fields={**node.fields, "Arguments": ", ".join((keys, *given[1:]))})
    lists = (*aggregation.fields.values(), aggregation.detail) if aggregation else ()
    return None if any(_CUT in text for text in (whole.argument(), *lists)) else whole


def planned_arguments(plan: Plan, types: Types) -> dict[int, tuple[str | None, ...]]:
    """Return {operator id: type of each function's first argument}, None where it is not known.

    Functions that keep their values as bytes store values of that type, and no schema shows it.
    """
    if not any(n.name in _AGGREGATES for n in plan.nodes):
        return {}
    context = _Context(plan, types)
    out: dict[int, tuple[str | None, ...]] = {}
    for node in plan.nodes:
        number = _OPERATOR.search(node.argument())
        aggregation = _aggregation(node, context) if node.name in _AGGREGATES else None
        if number is not None and aggregation is not None:
            known = (*context.columns[node.children[0]], *_under(aggregation, context))
            functions = _functions(aggregation)
            out[int(number[1])] = argument_types(functions, partial(lookup, known, types))
    return out


class _Context:
    """What surrounds an operator: its plan and the types that are known there."""

    def __init__(self, plan: Plan, types: Types) -> None:
        self.plan, self.types, self.columns = plan, types, flow(plan, types)
        self.index = {id(n): i for i, n in enumerate(plan.nodes)}

    def field(self, text: str, below: Columns, name: str | None = None) -> Field:
        """Return the field of an expression; a bare attribute has its analysed nullability."""
        found = column(text)
        known = typed(parse(text), lambda n: lookup(below, self.types, n))
        kind = known.type if known.type is not None else _by_suffix(text)
        return Field(name or found.name, kind, known.nullable)

    def below(self, node: PlanNode) -> PlanNode:
        """Return the first input of a node."""
        return self.plan.nodes[node.children[0]]


def _by_suffix(text: str) -> Any:
    return "long" if re.search(r"#\d+L(?:-T\d+ms)?$", text) else None


def _arguments(node: PlanNode) -> list[str]:
    return split(node.argument())


def _aggregate(node: PlanNode, inputs: list[Columns], context: _Context) -> Stores:
    if not _shows_buffers(node, context):
        return {}
    keys = _keys(node)
    key = [context.field(k, inputs[0]) for k in keys]
    value = _buffers(node, inputs[0], context, {column(k).id for k in keys})
    if _format(node) == "1":
        value = [*key, *value]
    return {"default": (Schema(tuple(key)), Schema(tuple(value)))}


def _keys(node: PlanNode) -> list[str]:
    """Return the grouping keys; a global aggregation has none and prints no list of them."""
    first = _arguments(node)[0]
    return listed(first) if first.startswith("[") else []


def _format(node: PlanNode) -> str | None:
    last = _arguments(node)[-1]
    return last if last.isdecimal() else None


def _buffers(
    node: PlanNode, below: Columns, context: _Context, keys: set[int | None]
) -> list[Field]:
    """Return what the aggregation below stores besides the keys."""
    aggregation = _aggregation(node, context)
    functions = _functions(aggregation) if aggregation else []
    given = listed(node.fields["Input"]) if "Input" in node.fields else _results(aggregation)
    names = [column(t).name for t in given if column(t).id not in keys]
    under = _under(aggregation, context)
    return buffer_fields(functions, names, lambda n: lookup((*below, *under), context.types, n))


def _shows_buffers(node: PlanNode, context: _Context) -> bool:
    """Whether the aggregation below prints what it gives: one-line plans leave that out."""
    at = node
    while at.children:
        at = context.below(at)
        if at.name.endswith("Aggregate"):
            return "Input" in node.fields or "Functions" in at.fields or "output=[" in at.detail
    return True


def _aggregation(node: PlanNode, context: _Context) -> PlanNode | None:
    """Return the aggregation that feeds a state operator."""
    at = node
    while at.children:
        at = context.below(at)
        if _functions(at):
            return at
    return None


def _functions(node: PlanNode) -> list[str]:
    if "Functions" in node.fields:
        return listed(node.fields["Functions"])
    match = re.search(r"functions=(\[.*\]), output=\[", node.detail)
    return listed(match[1]) if match else []


def _results(aggregation: PlanNode | None) -> list[str]:
    if aggregation is None:
        return []
    match = re.search(r"output=(\[.*\])\)?$", aggregation.detail)
    return listed(match[1]) if match else []


def _under(aggregation: PlanNode | None, context: _Context) -> Columns:
    """Return every column below the first aggregation: the functions' arguments are among them."""
    if aggregation is None:
        return ()
    found: list[Flowing] = []
    at = aggregation
    while at.children:
        at = context.below(at)
        found.extend(context.columns[context.index[id(at)]])
    return tuple(found)


def _session(node: PlanNode, inputs: list[Columns], context: _Context) -> Stores:
    if not _shows_buffers(node, context):
        return {}
    arguments = _arguments(node)
    keys = listed(arguments[0])
    key = [context.field(k, inputs[0]) for k in keys]
    window = column(arguments[1].split(":")[0]).id
    found = {window: Field("session_window", WINDOW, False)}
    found |= {column(k).id: field for k, field in zip(keys, key, strict=True)}
    # A session is stored as the row that comes in: the groups in the order of groupBy.
    groups = [found[c.id] for c in inputs[0] if c.id in found]
    buffers = _buffers(node, inputs[0], context, set(found))
    start = Field("sessionStartTime", "timestamp", False)
    return {"default": (Schema((*key, start)), Schema((*groups, *buffers)))}


def _deduplicate(node: PlanNode, inputs: list[Columns], context: _Context) -> Stores:
    key = [context.field(k, inputs[0]) for k in listed(_arguments(node)[0])]
    value = Field("__dummy__", "void", True)
    if node.name.endswith("WithinWatermark"):
        value = Field("expiresAtMicros", "long", False)
    return {"default": (Schema(tuple(key)), Schema((value,)))}


def _limit(_node: PlanNode, _inputs: list[Columns], _context: _Context) -> Stores:
    key, value = Field("key", "void", True), Field("value", "long", True)
    return {"default": (Schema((key,)), Schema((value,)))}


def _join(node: PlanNode, inputs: list[Columns], context: _Context) -> Stores:
    arguments = _arguments(node)
    formats = [a for a in arguments if a in ("1", "2", "3", "4")]
    if len(inputs) != 2:
        return {}
    out: Stores = {}
    for side, keys, rows in zip(("left", "right"), arguments, inputs, strict=False):
        found = [context.field(k, rows, f"field{i}") for i, k in enumerate(listed(keys))]
        matched = () if formats[-1:] == ["1"] else (Field("matched", "boolean", True),)
        stored = tuple(Field(c.name, c.type, c.narrowed) for c in rows)
        if formats[-1:] == ["4"]:
            out |= _by_time(side, tuple(found), Schema(stored + matched))
            continue
        index = Field("index", "long", True)
        count = Schema((Field("value", "long", True),))
        out[f"{side}-keyToNumValues"] = (Schema(tuple(found)), count)
        out[f"{side}-keyWithIndexToValue"] = (Schema((*found, index)), Schema(stored + matched))
    return out


def _by_time(side: str, keys: tuple[Field, ...], row: Schema) -> Stores:
    """Return a join side's stores in format 4, which keeps rows by their time."""
    key = Schema((*keys, Field("__event_time", "long", False)))
    nothing = Schema((Field("__dummy__", "void", True),))
    return {f"{side}-keyWithTsToValues": (key, row), f"{side}-tsWithKey": (key, nothing)}


def _map_groups(node: PlanNode, inputs: list[Columns], context: _Context) -> Stores:
    arguments = _arguments(node)
    state = next((a for a in arguments if a.startswith("[StructField")), None)
    if state is None or len(arguments) < 2:
        return {}
    key = [context.field(k, inputs[0]) for k in listed(arguments[1])]
    value = [Field("groupState", _struct(state), True)]
    if any(a.endswith("Timeout") and a != "NoTimeout" for a in arguments):
        value.append(Field("timeoutTimestamp", "long", False))
    return {"default": (Schema(tuple(key)), Schema(tuple(value)))}


def _typed_groups(node: PlanNode, inputs: list[Columns], context: _Context) -> Stores:
    """Read `class[total[0]: bigint, ...]`: the state's class as its encoder flattens it.

    Which of its fields may be null is not printed.
    """
    arguments = _arguments(node)
    keys = next((a for a in arguments if a.startswith("[")), None)
    state = next((a for a in arguments if a.startswith("class[")), None)
    if keys is None or state is None:
        return {}
    fields = [
        {"name": m["name"], "type": sql_type(m["kind"]), "nullable": None, "metadata": {}}
        for m in map(_ENCODED.fullmatch, split(state.removeprefix("class[").removesuffix("]")))
        if m
    ]
    kind = {"type": "struct", "fields": fields}
    known = bool(fields) and all(f["type"] is not None for f in fields)
    value = [Field("groupState", kind if known else None, True)]
    if any(a.endswith("Timeout") and a != "NoTimeout" for a in arguments):
        value.append(Field("timeoutTimestamp", "long", False))
    key = [context.field(k, inputs[0]) for k in listed(keys)]
    return {"default": (Schema(tuple(key)), Schema(tuple(value)))}


def _struct(text: str) -> Any:
    """Return the type in `[StructField(c,LongType,true)]`; None where it holds nested types."""
    found = _STATE_FIELD.findall(text)
    if len(found) != text.count("StructField("):
        return None
    fields = [
        {"name": name, "type": _word(kind), "nullable": null == "true", "metadata": {}}
        for name, kind, null in found
    ]
    return {"type": "struct", "fields": fields}


def _word(kind: str) -> str:
    return kind.replace("Type", "").lower()


_DERIVE = {
    "StateStoreSave": _aggregate,
    "SessionWindowStateStoreSave": _session,
    "StreamingDeduplicate": _deduplicate,
    "StreamingDeduplicateWithinWatermark": _deduplicate,
    "StreamingGlobalLimit": _limit,
    "StreamingSymmetricHashJoin": _join,
    "FlatMapGroupsInPandasWithState": _map_groups,
    "FlatMapGroupsWithState": _typed_groups,
}
