"""Make of a filter's subqueries what the optimiser makes of them."""

from __future__ import annotations

import re
from dataclasses import replace

from headgate.parse.spark.explain.printed_plan import PlanNode
from headgate.parse.spark.operators.builder import Below, Builder, over
from headgate.parse.spark.operators.relation import LEAVES, Relation

_NAME = r"(?:(?:Subquery )?(?:scalar-)?subquery|list|exists)#\d+"
_MENTION = re.compile(rf"{_NAME}(?:, \[id=#\d+\]| \[[^\]]*\])?")
_IN = re.compile(r"^(?P<not>NOT )?(?P<value>\S+#\d+\S*) IN \(list#\d+ \[\]\)$")
_EXISTS = re.compile(r"^(?P<not>NOT )?exists#\d+ \[[^\]]*\]$")


def filtered_by_subqueries(
    node: PlanNode, subqueries: list[Below], below: Below, builder: Builder
) -> Below:
    """`IN (subquery)` and `EXISTS` are semi or anti joins; a scalar one stays in the condition.

    Subqueries are in the order of their mention (`RewritePredicateSubquery`).
    """
    rest: list[str] = []
    waiting = list(subqueries)
    for part in _conjuncts(node.fields.get("Condition") or node.detail):
        match = _IN.match(part) or _EXISTS.match(part)
        mentioned = len(_MENTION.findall(part))
        own, waiting = waiting[:mentioned], waiting[mentioned:]
        if match and own:
            below = _semi_join(node, match, below, own[0], builder)
        else:
            rest.append(without_numbers(part))
            note_tables(below, own, builder)
    if not rest:
        return below
    condition = rest[0] if len(rest) == 1 else f"({' AND '.join(rest)})"
    lowered = builder.add(replace(over(node, "filter", [below], builder), condition=condition))
    lowered.partial, lowered.session = below.partial, below.session
    note_tables(lowered, subqueries if len(rest) else [], builder)
    return lowered


def _semi_join(
    node: PlanNode, match: re.Match[str], below: Below, subquery: Below, builder: Builder
) -> Below:
    found = match.groupdict()
    columns = builder.outputs(subquery)
    condition = None
    if "value" in found and columns:
        condition = f"({found['value']} = {columns[0].name}#{columns[0].id})"
    made = over(node, "join", [below, subquery], builder)
    kind = "LeftAnti" if found["not"] else "LeftSemi"
    return builder.add(replace(made, name="Join", join_type=kind, condition=condition))


def without_numbers(text: str) -> str:
    """Return a condition in which a subquery reads alike in every form."""
    return _MENTION.sub("scalar_subquery()", text)


def note_tables(lowered: Below, subqueries: list[Below], builder: Builder) -> None:
    """Note on a relation what its subqueries read."""
    tables = [t for s in subqueries for t in _tables(s.relation, builder.relations)]
    if tables:
        relation = builder.relations[lowered.relation]
        extra = {**relation.extra, "subquery_reads": ", ".join(dict.fromkeys(tables))}
        builder.relations[lowered.relation] = replace(relation, extra=extra)


def _tables(index: int, relations: list[Relation]) -> list[str]:
    out, stack = [], [index]
    while stack:
        relation = relations[stack.pop()]
        stack.extend(relation.inputs)
        if relation.kind in LEAVES:
            parts = relation.extra.get("format"), relation.extra.get("path")
            out.append(" ".join(p for p in parts if p))
    return [table for table in out if table]


def _conjuncts(text: str) -> list[str]:
    """Return the parts of `(a AND (b OR c))`: of ANDs that are outside inner brackets."""
    text = text.strip()
    if not (text.startswith("(") and _closes_at_end(text)):
        return [text]
    inner = text[1:-1]
    cuts = [m.start() for m in re.finditer(r" AND ", inner) if _depth(inner[: m.start()]) == 0]
    if not cuts:
        return [text]
    at = cuts[0]
    return [*_conjuncts(inner[:at]), *_conjuncts(inner[at + len(" AND ") :])]


def _depth(text: str) -> int:
    return text.count("(") - text.count(")")


def _closes_at_end(text: str) -> bool:
    depth = 0
    for at, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth == 0:
            return at == len(text) - 1
    return False
