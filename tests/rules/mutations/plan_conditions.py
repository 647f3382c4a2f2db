"""Changes of a plan's joins and filters."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from .plan_tree import (
    Nodes,
    children,
    dicts,
    exchanged,
    joins,
    number,
    output,
    stateful,
    word,
)


def other_join_key(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Join by another column of the same type."""
    for place in joins(nodes):
        condition = nodes[place].get("condition")
        for i, found in enumerate(condition or ()):
            if word(found) != "EqualTo" or word(condition[i + 1]) != "AttributeReference":
                continue
            column = condition[i + 1]
            start = next(
                (
                    s
                    for s, _ in children(nodes, place)
                    if number(column) in map(number, output(nodes, s))
                ),
                None,
            )
            if start is None:
                continue
            for other in output(nodes, start):
                if number(other) == number(column) or other["dataType"] != column["dataType"]:
                    continue
                changed = copy.deepcopy(nodes)
                changed[place]["condition"][i + 1] = copy.deepcopy(other)
                yield f"{column['name']} -> {other['name']} in {place}", changed


def join_sides(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """The two sides of a join change places."""
    for place in joins(nodes):
        yield f"sides of {place}", exchanged(nodes, place)


def join_type(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another type of join."""
    for place in joins(nodes):
        for new in ("Inner", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi"):
            changed = copy.deepcopy(nodes)
            changed[place]["joinType"] = {"object": f"org.apache.spark.sql.catalyst.plans.{new}$"}
            yield f"{new} in {place}", changed


def join_condition(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another number in the condition of a join."""
    for place in joins(nodes):
        yield from _other_literals(nodes, place, "condition")


def filter_condition(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another value in the condition of a filter."""
    for place in stateful(nodes, "Filter"):
        yield from _other_literals(nodes, place, "condition")


def _other_literals(nodes: Nodes, place: int, part: str) -> Iterator[tuple[str, Nodes]]:
    """Change a value wherever it stands: what Spark replaces is printed twice."""
    given = [d.get("value") for d in dicts(nodes[place].get(part)) if word(d) == "Literal"]
    for value in dict.fromkeys(v for v in given if v not in (None, "true", "false")):
        changed = copy.deepcopy(nodes)
        for found in dicts(changed[place][part]):
            if word(found) == "Literal" and found.get("value") == value:
                found["value"] = _other_value(str(value))
        yield f"{value} in {place}", changed


def _other_value(value: str) -> str:
    """Return a value of the same type that is another."""
    if value.lstrip("-").isdigit():
        return str(int(value) + 7)
    if value.startswith("INTERVAL '"):
        return value.replace("INTERVAL '", "INTERVAL '1", 1)
    return value + "7"


def reordered_conditions(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Conditions in another order, where the order decides nothing."""
    for place in stateful(nodes, "Filter", "Join"):
        condition = nodes[place].get("condition") or []
        for i, found in enumerate(condition):
            if word(found) != "And":
                continue
            parts = [condition[a:b] for a, b in children(condition, i)]
            equal = sum(any(word(n) == "EqualTo" for n in part) for part in parts)
            if word(nodes[place]) == "Join" and equal == len(parts):
                continue
            changed = copy.deepcopy(nodes)
            changed[place]["condition"] = exchanged(condition, i)
            yield f"condition of {place}", changed
