"""The columns that flow through a physical plan, with the two nullabilities that Spark tracks.

An attribute that a projection passes on keeps the nullability that analysis gave it; a filter
that implies `isnotnull` narrows it for its own output only. State keys use the first, stored rows
of a join the second. Source: `FilterExec.output`, `ProjectExec.output`; measured on 4.2.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headgate.parse.spark.explain.arguments import first_bracket, listed, split
from headgate.parse.spark.explain.printed_plan import Plan, PlanNode, TypedColumn
from headgate.parse.spark.expression.function_types import any_null
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.expression.types import UNKNOWN, typed
from headgate.parse.spark.operators.facts import conjuncts
from headgate.parse.spark.operators.relation import ambiguous, column

_LONG = re.compile(r"#\d+L(?:-T\d+ms)?$")
Types = Mapping[int, TypedColumn]


@dataclass(frozen=True, slots=True)
class Flowing:
    """One column at one operator: `nullable` as analysed, `narrowed` by filters above the source.

    Both are None if unknown. `type` is Spark's JSON type.
    """

    id: int | None
    name: str
    type: Any = None
    nullable: bool | None = None
    narrowed: bool | None = None


Columns = tuple[Flowing, ...]


def flow(plan: Plan, types: Types) -> dict[int, Columns]:
    """Return each node's output columns by its index in the plan."""
    out: dict[int, Columns] = {}
    for index, node in plan.upwards():
        inputs = [out[c] for c in node.children]
        out[index] = _output(node, inputs, types, _over_source(plan, node))
    return out


def _over_source(plan: Plan, node: PlanNode) -> bool:
    """Whether a V1 source is directly below: its batches come under a projection of their own.

    The optimiser pushes a filter below that projection, which hides what the filter implies.
    """
    below = plan.nodes[node.children[0]] if node.children else None
    if below is None or below.children:
        return False
    return below.name == "Scan" or "[" in below.argument().split(",")[0]


def _output(node: PlanNode, inputs: list[Columns], types: Types, over_source: bool) -> Columns:
    if not inputs:
        return tuple(_leaf(text, types) for text in _items(node, "Output") or _tail(node))
    if node.name == "Filter":
        return inputs[0] if over_source else _filtered(node, inputs[0])
    if node.name == "Union":
        return _union(inputs)
    if len(inputs) == 2:
        return _joined(node, inputs[0], inputs[1])
    if node.name == "Expand":
        return _expanded(node, inputs[0], types)
    texts = _items(node, "Output") or _items(node, "Results") or _projected(node)
    unclear = ambiguous(texts)
    return (
        tuple(
            _unknown(text, types) if n in unclear else _made(text, inputs[0], types)
            for n, text in enumerate(texts)
        )
        or inputs[0]
    )


def _items(node: PlanNode, field: str) -> list[str]:
    return listed(node.fields[field]) if field in node.fields else []


def _tail(node: PlanNode) -> list[str]:
    """Return the columns that the unformatted plan prints of a source."""
    if node.name == "FileScan":
        return listed(f"[{first_bracket(node.argument())[1]}]")
    match = re.search(r"\[((?:[^\[\]]|\[[^\]]*\])*#\d[^\]]*)\]\s*$", node.argument())
    return listed(f"[{match[1]}]") if match else []


def _projected(node: PlanNode) -> list[str]:
    """Return the columns that the unformatted plan prints of a projection."""
    return listed(node.detail) if node.name == "Project" and not node.fields else []


def lookup(columns: Sequence[Flowing], types: Types, number: int) -> TypedColumn | None:
    """Return what an attribute is where these columns flow."""
    found = next((c for c in columns if c.id == number), None)
    if found is not None:
        return TypedColumn(found.type, found.nullable)
    return types.get(number)


def _leaf(text: str, types: Types) -> Flowing:
    found = column(text)
    known = types.get(found.id, UNKNOWN) if found.id is not None else UNKNOWN
    kind = known.type or ("long" if _LONG.search(text) else None)
    return Flowing(found.id, found.name, kind, known.nullable, known.nullable)


def _unknown(text: str, types: Types) -> Flowing:
    """Return a column of which only its number is sure."""
    found = column(text)
    known = types.get(found.id, UNKNOWN) if found.id is not None else UNKNOWN
    return Flowing(found.id, found.name, known.type, known.nullable, known.nullable)


def _expanded(node: PlanNode, below: Columns, types: Types) -> Columns:
    """Return an Expand's columns; those that begin there are nullable, but for the grouping id."""
    parts = split(node.argument())
    if len(parts) < 2:
        return below
    rows = [listed(row) for row in listed(parts[0])]
    out = []
    for index, text in enumerate(listed(parts[-1])):
        found = column(text)
        if any(c.id == found.id for c in below):
            out.append(_made(text, below, types))
            continue
        texts = [row[index] for row in rows if index < len(row)]
        given = next((t for t in texts if t != "null"), "")
        value = typed(parse(given), lambda n: lookup(below, types, n))
        number = bool(texts) and all(t.isdecimal() for t in texts)
        kind = "long" if _LONG.search(text) else value.type
        out.append(Flowing(found.id, found.name, kind, not number, not number))
    return tuple(out)


def _made(text: str, below: Columns, types: Types) -> Flowing:
    """Return a listed column: passed on or computed."""
    found = column(text)
    known = next((c for c in below if c.id == found.id), None)
    if known is not None and not found.is_computed:
        return replace(known, narrowed=known.nullable)
    value = _value(found.id, found.text or text, below, types)
    kind = value.type or ("long" if _LONG.search(text) else None)
    return Flowing(found.id, found.name, kind, value.nullable, value.nullable)


def _value(number: int | None, text: str, below: Columns, types: Types) -> TypedColumn:
    """Take the type that analysis gave the alias, and the nullability of what it computes.

    References further up may be nullable for another reason, such as an outer join between.
    """
    said = types.get(number, UNKNOWN) if number is not None else UNKNOWN
    computed = typed(parse(text), lambda n: lookup(below, types, n))
    return TypedColumn(
        said.type or computed.type,
        said.nullable if computed.nullable is None else computed.nullable,
    )


def _filtered(node: PlanNode, below: Columns) -> Columns:
    condition = parse(node.fields.get("Condition", node.detail))
    not_null = {n for part in conjuncts(condition) for n in _not_null_by(part)}
    return tuple(replace(c, narrowed=False) if c.id in not_null else c for c in below)


def _not_null_by(term: Term) -> list[int]:
    """Return the attribute of an `isnotnull(attribute)`, which is never null after it."""
    if term.kind == "call" and term.name.lower() == "isnotnull" and term.args:
        inner = term.args[0]
        return [inner.id] if inner.kind == "attribute" and inner.id is not None else []
    return []


def _union(inputs: list[Columns]) -> Columns:
    first, *others = inputs
    out = []
    for index, c in enumerate(first):
        same = [o[index] for o in others if index < len(o)]
        nullable = any_null([c.nullable, *(s.nullable for s in same)])
        narrowed = any_null([c.narrowed, *(s.narrowed for s in same)])
        out.append(replace(c, nullable=nullable, narrowed=narrowed))
    return tuple(out)


def _joined(node: PlanNode, left: Columns, right: Columns) -> Columns:
    words = f"{node.argument()} {node.fields.get('Join type', '')}"
    if "LeftSemi" in words or "LeftAnti" in words:
        return left
    if "LeftOuter" in words or "FullOuter" in words:
        right = _nullable(right)
    if "RightOuter" in words or "FullOuter" in words:
        left = _nullable(left)
    return left + right


def _nullable(columns: Columns) -> Columns:
    return tuple(replace(c, nullable=True, narrowed=True) for c in columns)
