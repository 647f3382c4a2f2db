"""Read `plan.toJSON` into the same tree that explain text gives, a logical plan's with types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.parse.spark.explain.odd_names import OddNames, is_unusual
from headgate.parse.spark.explain.printed_names import put_in_nodes
from headgate.parse.spark.explain.printed_plan import Plan, PlanNode, without_secrets
from headgate.parse.spark.plan_json import logical
from headgate.parse.spark.plan_json import physical as json_physical
from headgate.parse.spark.plan_json.expression import (
    Types,
    attribute_number,
    collect_names,
    collect_types,
)

_PLANS = (".plans.", ".execution.", ".streaming.")
Node = Mapping[str, Any]
# Python's JSON knows `Infinity` and numbers of any length; no whole number is made of the first.
_FAILURES = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def is_plan(found: Sequence[Any]) -> bool:
    """Whether a JSON list is a plan: nodes in pre-order, each with a class."""
    first = found[0] if found else None
    return (
        isinstance(first, dict)
        and isinstance(first.get("class"), str)
        and "num-children" in first
        and any(part in first["class"] for part in _PLANS)
    )


def read_json_plan(found: Sequence[Any]) -> Plan:
    """Return the plan; `types` maps a logical plan's attribute numbers to Spark's JSON types.

    A node that is not as expected costs a warning and keeps its name.
    """
    nodes = list(_flat(found))
    children = _children([count for _, count in nodes])
    warnings: list[str] = []
    physical = bool(nodes) and str(nodes[0][0]["class"]).endswith("Exec")
    made = [
        _node(node, below, number, warnings)
        for number, ((node, _), below) in enumerate(zip(nodes, children, strict=True), start=1)
    ]
    types: Types = {}
    names = collect_names(found)
    if not physical:
        collect_types(found, types)
    of_sources = OddNames(frozenset(_names_of_sources([node for node, _ in nodes])))
    known = without_secrets(put_in_nodes(of_sources, made))
    return Plan(
        "executed" if physical else "json",
        known,
        tuple(warnings),
        types,
        names=names.joined(of_sources),
    )


def _names_of_sources(nodes: Sequence[Node]) -> Iterator[tuple[str, int]]:
    """Yield the columns of leaves whose names could be read as calls or lists."""
    for node in nodes:
        given = node.get("output")
        if _count(node) or not isinstance(given, list) or "CTERelationRef" in str(node["class"]):
            continue
        for column in (c[0] if isinstance(c, list) and c else c for c in given):
            if isinstance(column, dict):
                name, number = column.get("name"), attribute_number(column)
                if isinstance(name, str) and number is not None and is_unusual(name):
                    yield name, number


def _flat(found: Sequence[Any]) -> Iterator[tuple[Node, int]]:
    """Yield the nodes in pre-order with the number of their children; inner plans come first.

    A subquery's plan is inside an expression, an adaptive plan's inside its only node.
    """
    stack = list(reversed(found))
    while stack:
        node = stack.pop()
        if not isinstance(node, dict) or not isinstance(node.get("class"), str):
            continue
        inner = _inner_plans(node)
        yield node, _count(node) + len(inner)
        for plan in reversed(inner):
            stack.extend(reversed(plan))


def _inner_plans(node: Node) -> list[list[Any]]:
    """Return the plans within a node; a scan's filters repeat those of the filter above it."""
    out: list[list[Any]] = []
    stack: list[Any] = [v for v in node.values() if isinstance(v, list)]
    if stack and str(node["class"]).endswith(("AdaptiveSparkPlanExec", "PlanLater")):
        return [p for p in (node.get("inputPlan"), node.get("plan")) if isinstance(p, list)]
    while stack and _count(node):
        current = stack.pop()
        if isinstance(current, list):
            stack.extend(reversed(current))
        elif isinstance(current, dict) and "class" in current:
            plan = current.get("plan")
            if isinstance(plan, list):
                out.append(plan)
            else:
                stack.extend(v for v in current.values() if isinstance(v, list))
    return out


def _count(node: Node) -> int:
    found = node.get("num-children")
    return found if isinstance(found, int) and found > 0 else 0


def _children(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Return each node's children from the numbers of children in pre-order."""
    children: list[list[int]] = [[] for _ in counts]
    waiting: list[int] = []
    for index, count in enumerate(counts):
        while waiting and len(children[waiting[-1]]) == counts[waiting[-1]]:
            waiting.pop()
        if waiting:
            children[waiting[-1]].append(index)
        if count:
            waiting.append(index)
    return [tuple(c) for c in children]


def _node(node: Node, children: tuple[int, ...], line: int, warnings: list[str]) -> PlanNode:
    name = str(node["class"]).rpartition(".")[2]
    said = json_physical.Said()
    try:
        if name.endswith("Exec"):
            name = json_physical.name_of(name)
            said = json_physical.said(name, node)
        else:
            name = "Relation" if name == "LogicalRelation" else name
            said = json_physical.Said(logical.detail(name, node))
    except _FAILURES as error:
        warnings.append(
            f"node {line} ({name}) of the query plan as JSON has an unexpected structure, so "
            f"Headgate ignores the details of the node: {error!r}"
        )
    flag = node.get("isStreaming")
    streaming = flag if isinstance(flag, bool) else None
    return PlanNode(name, said.detail, line, children, said.fields, streaming)
