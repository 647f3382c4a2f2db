"""Changes of a plan's operators with state: what they group by, store and go by."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator

from .plan_tree import (
    Nodes,
    attributes,
    dicts,
    end,
    number,
    origin,
    output,
    replaced,
    sources,
    stateful,
    twins,
    word,
)

_AGGREGATE = "org.apache.spark.sql.catalyst.expressions.aggregate."
_EXCHANGED = {
    "Min": "Max",
    "Max": "Min",
    "First": "Last",
    "Last": "First",
    "BitAndAgg": "BitOrAgg",
    "BitOrAgg": "BitAndAgg",
    "BitXorAgg": "BitOrAgg",
    "MinBy": "MaxBy",
    "MaxBy": "MinBy",
}


def other_function(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another function whose buffer has the same type, or none of its type."""
    for place in stateful(nodes, "Aggregate"):
        for found in dicts(nodes[place]["aggregateExpressions"]):
            if not str(found.get("class", "")).startswith(_AGGREGATE):
                continue
            old, was = word(found), dict(found)
            for new in _functions(nodes, place, found):
                found.clear()
                found.update(new)
                yield f"{old} -> {word(new)} in {place}", copy.deepcopy(nodes)
                found.clear()
                found.update(was)


def _functions(nodes: Nodes, place: int, found: dict) -> Iterator[dict]:
    old = word(found)
    if old in _EXCHANGED:
        yield {**found, "class": _AGGREGATE + _EXCHANGED[old]}
    if old in ("Sum", "Average", "Min", "Max"):
        yield {"class": _AGGREGATE + "Count", "num-children": 1, "children": [0]}
    if old == "Sum":
        yield {"class": _AGGREGATE + "Max", "num-children": 1, "child": 0}
    if old == "Average":
        yield {**found, "class": _AGGREGATE + "Sum"}


def other_key(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Group by another column of the same type."""
    for place in stateful(nodes, "Aggregate"):
        node = nodes[place]
        grouped = {
            number(e[0]) for e in node["groupingExpressions"] if len(e) == 1 and "exprId" in e[0]
        }
        for key in [
            e[0] for e in node["groupingExpressions"] if word(e[0]) == "AttributeReference"
        ]:
            for other in twins(nodes, place, key):
                if number(other) in grouped:
                    continue
                changed = copy.deepcopy(nodes)
                changed[place] = replaced(node, number(key), other)
                yield f"key {key['name']} -> {other['name']} in {place}", changed


def other_argument(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Aggregate another column of the same type."""
    for place in stateful(nodes, "Aggregate"):
        node = nodes[place]
        for i, expression in enumerate(node["aggregateExpressions"]):
            if not _inner(expression) or any(word(n) == "Count" for n in expression):
                continue
            for column in list(attributes(expression)):
                for other in twins(nodes, place, column):
                    changed = copy.deepcopy(nodes)
                    listed = changed[place]["aggregateExpressions"]
                    listed[i] = replaced(expression, number(column), other)
                    yield f"argument {column['name']} -> {other['name']} in {place}", changed


def _inner(expression: list[dict]) -> bool:
    return any(str(n.get("class", "")).startswith(_AGGREGATE) for n in expression)


def keys_exchanged(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Two keys change places."""
    for place in stateful(nodes, "Aggregate", "Deduplicate", "DeduplicateWithinWatermark"):
        part = "groupingExpressions" if word(nodes[place]) == "Aggregate" else "keys"
        listed = nodes[place][part]
        for i in range(len(listed) - 1):
            changed = copy.deepcopy(nodes)
            keys = changed[place][part]
            if keys[i] == keys[i + 1]:
                continue
            keys[i], keys[i + 1] = keys[i + 1], keys[i]
            yield f"keys {i} and {i + 1} of {place}", changed


def other_duplicates(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Find duplicates by another column, or by one column fewer."""
    for place in stateful(nodes, "Deduplicate", "DeduplicateWithinWatermark"):
        keys = nodes[place]["keys"]
        named = {number(k[0]) for k in keys}
        for i, key in enumerate(keys):
            if len(keys) > 1:
                changed = copy.deepcopy(nodes)
                del changed[place]["keys"][i]
                yield f"without {key[0]['name']} in {place}", changed
            for other in twins(nodes, place, key[0]):
                if number(other) not in named:
                    changed = copy.deepcopy(nodes)
                    changed[place]["keys"][i] = [copy.deepcopy(other)]
                    yield f"{key[0]['name']} -> {other['name']} in {place}", changed


def window_grid(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another length or slide of a time window."""
    for place in stateful(nodes, "Expand", "Project"):
        text = json.dumps(nodes[place])
        if "PreciseTimestampConversion" not in text or not _feeds_aggregate(nodes, place):
            continue
        lengths = {
            d["value"]
            for d in dicts(nodes[place])
            if word(d) == "Literal" and d.get("dataType") == "long" and len(str(d["value"])) > 6
        }
        for length in sorted(lengths):
            changed = copy.deepcopy(nodes)
            for found in dicts(changed[place]):
                if word(found) == "Literal" and found.get("value") == length:
                    found["value"] = str(int(length) * 3)
            yield f"{length} in {place}", changed


def _feeds_aggregate(nodes: Nodes, place: int) -> bool:
    return any(
        word(n) == "Aggregate" and i < place < end(nodes, i) for i, n in enumerate(nodes[:place])
    )


def key_type(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A key of another type, from the source on."""
    for key in _plain_keys(nodes):
        if isinstance(key["dataType"], str):
            changed = copy.deepcopy(nodes)
            new = "string" if key["dataType"] != "string" else "long"
            for found in attributes(changed):
                if _origin_is(nodes, found, key):
                    found["dataType"] = new
            yield f"{key['name']}: {key['dataType']} -> {new}", changed


def key_nullable(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A key that could not be null now can be."""
    for key in _plain_keys(nodes):
        if key["nullable"] is False:
            changed = copy.deepcopy(nodes)
            for found in attributes(changed):
                if _origin_is(nodes, found, key):
                    found["nullable"] = True
            yield f"{key['name']} nullable", changed


def value_type(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A stored value of another type, from the source on."""
    below = {number(a) for s in sources(nodes) for a in output(nodes, s)}
    for place in stateful(nodes, "Aggregate"):
        for expression in nodes[place]["aggregateExpressions"]:
            for i, found in enumerate(expression):
                if word(found) in ("Min", "Max", "First", "Last") and i + 1 < len(expression):
                    column = expression[i + 1]
                    if word(column) != "AttributeReference" or _root(nodes, column) not in below:
                        continue
                    changed = copy.deepcopy(nodes)
                    new = "string" if column["dataType"] != "string" else "long"
                    for other in attributes(changed):
                        if _origin_is(nodes, other, column):
                            other["dataType"] = new
                    yield f"{column['name']}: {column['dataType']} -> {new}", changed


def _origin_is(nodes: Nodes, found: dict, key: dict) -> bool:
    return origin(nodes, number(found)) == origin(nodes, number(key))


def _plain_keys(nodes: Nodes) -> list[dict]:
    keys: dict[int, dict] = {}
    for place in stateful(nodes, "Aggregate", "Deduplicate", "DeduplicateWithinWatermark"):
        part = nodes[place].get("groupingExpressions") or nodes[place].get("keys") or []
        below = {number(a) for s in sources(nodes) for a in output(nodes, s)}
        for expression in part:
            head = expression[0]
            if word(head) == "AttributeReference" and _root(nodes, head) in below:
                keys[number(head)] = head
    return list(keys.values())


def _root(nodes: Nodes, attribute: dict) -> int:
    return origin(nodes, number(attribute))


def watermark_column(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Event time is another column."""
    for place in stateful(nodes, "EventTimeWatermark"):
        column = nodes[place]["eventTime"][0]
        for other in twins(nodes, place, column):
            changed = copy.deepcopy(nodes)
            changed[place]["eventTime"] = [copy.deepcopy(other)]
            yield f"{column['name']} -> {other['name']}", changed
