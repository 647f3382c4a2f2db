"""A plan as JSON has it, a flat list of nodes before their children, to cut and to sew."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Nodes = list[dict[str, Any]]


def word(node: dict[str, Any]) -> str:
    """Return the last part of a node's class."""
    return str(node.get("class", "")).rsplit(".", 1)[-1]


def end(nodes: Nodes, start: int) -> int:
    """Return the place behind the subtree that begins at `start`."""
    waiting, place = 1, start
    while waiting:
        waiting += nodes[place]["num-children"] - 1
        place += 1
    return place


def children(nodes: Nodes, place: int) -> list[tuple[int, int]]:
    """Return where the subtrees below a node begin and end."""
    found, begin = [], place + 1
    for _ in range(nodes[place]["num-children"]):
        found.append((begin, end(nodes, begin)))
        begin = found[-1][1]
    return found


def exchanged(nodes: Nodes, place: int) -> Nodes:
    """Return the list with the two subtrees below a node exchanged."""
    (a, b), (_, c) = children(nodes, place)[:2]
    return [*nodes[:a], *nodes[b:c], *nodes[a:b], *nodes[c:]]


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a JSON value, outer ones first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from dicts(item)


def attributes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every reference to a column."""
    return (d for d in dicts(value) if word(d) == "AttributeReference")


def number(attribute: dict[str, Any]) -> int:
    """Return the id that makes a reference and what it refers to one."""
    return int(attribute["exprId"]["id"])


def is_streaming(nodes: Nodes, place: int) -> bool:
    """Say whether the subtree at a place reads a stream."""
    return any(_is_stream(n) for n in nodes[place : end(nodes, place)])


def _is_stream(node: dict[str, Any]) -> bool:
    return "StreamingRelation" in word(node) or bool(node.get("isStreaming"))


def sources(nodes: Nodes) -> list[int]:
    """Return the places of the streaming relations."""
    return [i for i, n in enumerate(nodes) if "StreamingRelation" in word(n)]


def output(nodes: Nodes, place: int) -> list[dict[str, Any]]:
    """Return the columns that a node gives, as far as they are columns or have a reference."""
    node = nodes[place]
    if listed := node.get("projectList") or node.get("aggregateExpressions") or node.get("output"):
        types = {number(a): a for a in attributes(nodes)}
        heads = [e[0] for e in listed if e and "exprId" in e[0]]
        return [types[number(h)] for h in heads if number(h) in types]
    if node["num-children"] == 0 or word(node) == "Union":
        return []
    below = children(nodes, place)
    return [a for start, _ in below for a in output(nodes, start)]


def twins(nodes: Nodes, place: int, column: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield other columns of the same type that the input of a node has."""
    for start, _ in children(nodes, place):
        for other in output(nodes, start):
            same_type = other["dataType"] == column["dataType"]
            if same_type and not _is_copy(nodes, other, column):
                yield other


def _is_copy(nodes: Nodes, one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Say whether both come from one column, as far as aliases of columns tell."""
    return origin(nodes, number(one)) == origin(nodes, number(two))


def origin(nodes: Nodes, wanted: int) -> int:
    """Return the id of the column that an attribute is, followed through aliases."""
    for node in nodes:
        for listed in node.get("projectList") or node.get("aggregateExpressions") or ():
            words = [word(part) for part in listed[:2]]
            if words == ["Alias", "AttributeReference"] and number(listed[0]) == wanted:
                return origin(nodes, number(listed[1]))
    return wanted


def replaced(value: Any, old: int, new: dict[str, Any]) -> Any:
    """Return a value with references to one column made references to another."""
    value = copy.deepcopy(value)
    for attribute in attributes(value):
        if number(attribute) == old:
            attribute.update(copy.deepcopy({k: v for k, v in new.items() if k != "class"}))
    return value


def stateful(nodes: Nodes, *words: str) -> Iterator[int]:
    """Yield the places of streaming operators of these kinds."""
    for place, node in enumerate(nodes):
        if word(node) in words and is_streaming(nodes, place):
            yield place


def joins(nodes: Nodes) -> Iterator[int]:
    """Yield the places of joins of two streams."""
    for place in stateful(nodes, "Join"):
        if all(is_streaming(nodes, start) for start, _ in children(nodes, place)):
            yield place
