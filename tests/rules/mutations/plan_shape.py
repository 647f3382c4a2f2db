"""Changes of a plan's shape: operators and branches more or fewer, or in another order."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from .plan_tree import (
    Nodes,
    children,
    exchanged,
    is_streaming,
    joins,
    output,
    sources,
    stateful,
    word,
)

_PLAN = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSION = "org.apache.spark.sql.catalyst.expressions."


def watermark_removed(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A watermark less."""
    if _has_state(nodes):
        yield from _cut_out(nodes, "EventTimeWatermark")


def state_removed(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """An operator with state less."""
    yield from _cut_out(nodes, "Deduplicate", "DeduplicateWithinWatermark")
    for place in stateful(nodes, "GlobalLimit"):
        if word(nodes[place + 1]) == "LocalLimit":
            yield f"without limit {place}", [*nodes[:place], *nodes[place + 2 :]]


def _cut_out(nodes: Nodes, *words: str) -> Iterator[tuple[str, Nodes]]:
    for place in stateful(nodes, *words):
        yield f"without {word(nodes[place])} {place}", [*nodes[:place], *nodes[place + 1 :]]


def _has_state(nodes: Nodes) -> bool:
    words = ("Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "GlobalLimit")
    return any(stateful(nodes, *words)) or any(joins(nodes))


def union_order(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Two branches with other sources change places."""
    for place in stateful(nodes, "Union"):
        (a, b), (c, d) = children(nodes, place)[:2]
        if is_streaming(nodes, a) and is_streaming(nodes, c):
            names = [_names(nodes[a:b]), _names(nodes[c:d])]
            if names[0] != names[1]:
                yield f"branches of {place}", exchanged(nodes, place)


def _names(nodes: Nodes) -> list[str]:
    return [str(nodes[i].get("sourceName")) for i in sources(nodes)]


def union_branch(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A branch less, or a branch more that reads a source of its own."""
    for place in stateful(nodes, "Union"):
        first, last = children(nodes, place)[0], children(nodes, place)[-1]
        if not is_streaming(nodes, last[0]):
            continue
        changed = copy.deepcopy(nodes)
        if nodes[place]["num-children"] == 2 and place == 0:
            yield f"first branch of {place} alone", changed[first[0] : first[1]]
        more = copy.deepcopy(nodes)
        branch = copy.deepcopy(nodes[last[0] : last[1]])
        for found in branch:
            if "StreamingRelation" in word(found) and "sourceName" in found:
                found["sourceName"] = "FileSource[/data/one_more/source]"
        more[place]["num-children"] += 1
        more[place]["children"] = list(range(more[place]["num-children"]))
        more[last[1] : last[1]] = branch
        yield f"a branch more in {place}", more


def inserted_state(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """An operator with state more, at each place."""
    for place, node in enumerate(nodes):
        if not is_streaming(nodes, place):
            continue
        given = output(nodes, place)
        limit = {"class": _PLAN + "LocalLimit", "num-children": 1, "child": 0}
        value = [
            {
                "class": _EXPRESSION + "Literal",
                "num-children": 0,
                "value": "9",
                "dataType": "integer",
            }
        ]
        limits = [
            {**limit, "class": _PLAN + "GlobalLimit", "limitExpr": value},
            {**limit, "limitExpr": value},
        ]
        yield f"limit above {word(node)} {place}", [*nodes[:place], *limits, *nodes[place:]]
        if given:
            unique = {
                "class": _PLAN + "Deduplicate",
                "num-children": 1,
                "keys": [[copy.deepcopy(given[0])]],
                "child": 0,
            }
            yield f"dedup above {word(node)} {place}", [*nodes[:place], unique, *nodes[place:]]


def inserted_filter(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A filter more, at each place."""
    for place, node in enumerate(nodes):
        given = [a for a in output(nodes, place) if isinstance(a["dataType"], str)]
        if not is_streaming(nodes, place) or not given:
            continue
        condition = [
            {"class": _EXPRESSION + "EqualTo", "num-children": 2, "left": 0, "right": 1},
            copy.deepcopy(given[0]),
            {
                "class": _EXPRESSION + "Literal",
                "num-children": 0,
                "value": "1",
                "dataType": given[0]["dataType"],
            },
        ]
        location = {
            "class": _PLAN + "Filter",
            "num-children": 1,
            "condition": condition,
            "child": 0,
        }
        yield f"filter above {word(node)} {place}", [*nodes[:place], location, *nodes[place:]]
