"""Changes of a plan as JSON: one at a time, each with what is honest to say of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from .mutant import HARM, HARMLESS, MIXED, OK, Base, Files, Mutant
from .plan_tree import (
    Nodes,
    attributes,
    children,
    dicts,
    end,
    exchanged,
    is_streaming,
    number,
    origin,
    output,
    replaced,
    sources,
    twins,
    word,
)

_AGGREGATE = "org.apache.spark.sql.catalyst.expressions.aggregate."
_PLAN = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSION = "org.apache.spark.sql.catalyst.expressions."
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
ELSEWHERE = "/data/somewhere/else"
Change = Callable[[Nodes], Iterator[tuple[str, Nodes]]]


def changed_plans(base: Base) -> Iterator[tuple[str, str, Nodes, frozenset, bool]]:
    """Yield kind, what, plan, allowed outcomes, told."""
    plan = json.loads(base.forms["json"][1])
    for kind, (change, allowed, told) in CHANGES.items():
        for what, nodes in change(copy.deepcopy(plan)):
            if nodes != plan or kind == "unchanged":
                yield kind, what, nodes, allowed, told


def mutants(base: Base) -> Iterator[Mutant]:
    """Yield every changed plan as evidence, with the session's files beside it."""
    file, _ = base.forms["json"]
    for kind, what, nodes, allowed, told in changed_plans(base):
        session = _beside(kind, base.session)
        yield Mutant(f"json: {kind}", what, {**session, file: json.dumps(nodes)}, allowed, told)


def _beside(kind: str, session: Files) -> Files:
    """Return the session's files without what the changed plan contradicts."""
    if kind == "source path":
        return elsewhere(session)
    if kind in ("union order", "union branch", "join sides"):
        return {file: text for file, text in session.items() if file != "capture.json"}
    return session


def elsewhere(session: Files) -> Files:
    """Return a session's files with all sources in another folder."""
    found = json.loads(session.get("capture.json", "{}"))
    for source in found.get("sources") or ():
        if "path" in source["options"]:
            source["options"]["path"] = ELSEWHERE
    return {**session, "capture.json": json.dumps(found)}


def _stateful(nodes: Nodes, *words: str) -> Iterator[int]:
    for place, node in enumerate(nodes):
        if word(node) in words and is_streaming(nodes, place):
            yield place


def other_function(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another function whose buffer has the same type, or none of its type."""
    for place in _stateful(nodes, "Aggregate"):
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


def _inner(expression: list[dict]) -> bool:
    return any(str(n.get("class", "")).startswith(_AGGREGATE) for n in expression)


def other_key(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Group by another column of the same type."""
    for place in _stateful(nodes, "Aggregate"):
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
    for place in _stateful(nodes, "Aggregate"):
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


def keys_exchanged(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Two keys change places."""
    for place in _stateful(nodes, "Aggregate", "Deduplicate", "DeduplicateWithinWatermark"):
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
    for place in _stateful(nodes, "Deduplicate", "DeduplicateWithinWatermark"):
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


def _joins(nodes: Nodes) -> Iterator[int]:
    for place in _stateful(nodes, "Join"):
        if all(is_streaming(nodes, start) for start, _ in children(nodes, place)):
            yield place


def other_join_key(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Join by another column of the same type."""
    for place in _joins(nodes):
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
    for place in _joins(nodes):
        yield f"sides of {place}", exchanged(nodes, place)


def join_type(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another type of join."""
    for place in _joins(nodes):
        for new in ("Inner", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi"):
            changed = copy.deepcopy(nodes)
            changed[place]["joinType"] = {"object": f"org.apache.spark.sql.catalyst.plans.{new}$"}
            yield f"{new} in {place}", changed


def join_condition(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another number in the condition of a join."""
    for place in _joins(nodes):
        yield from _other_literals(nodes, place, "condition")


def filter_condition(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another value in the condition of a filter."""
    for place in _stateful(nodes, "Filter"):
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


def window_grid(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another length or slide of a time window."""
    for place in _stateful(nodes, "Expand", "Project"):
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


def watermark_column(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Event time is another column."""
    for place in _stateful(nodes, "EventTimeWatermark"):
        column = nodes[place]["eventTime"][0]
        for other in twins(nodes, place, column):
            changed = copy.deepcopy(nodes)
            changed[place]["eventTime"] = [copy.deepcopy(other)]
            yield f"{column['name']} -> {other['name']}", changed


def watermark_removed(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A watermark less."""
    if _has_state(nodes):
        yield from _cut_out(nodes, "EventTimeWatermark")


def state_removed(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """An operator with state less."""
    yield from _cut_out(nodes, "Deduplicate", "DeduplicateWithinWatermark")
    for place in _stateful(nodes, "GlobalLimit"):
        if word(nodes[place + 1]) == "LocalLimit":
            yield f"without limit {place}", [*nodes[:place], *nodes[place + 2 :]]


def _cut_out(nodes: Nodes, *words: str) -> Iterator[tuple[str, Nodes]]:
    for place in _stateful(nodes, *words):
        yield f"without {word(nodes[place])} {place}", [*nodes[:place], *nodes[place + 1 :]]


def _has_state(nodes: Nodes) -> bool:
    words = ("Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "GlobalLimit")
    return any(_stateful(nodes, *words)) or any(_joins(nodes))


def union_order(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Two branches with other sources change places."""
    for place in _stateful(nodes, "Union"):
        (a, b), (c, d) = children(nodes, place)[:2]
        if is_streaming(nodes, a) and is_streaming(nodes, c):
            names = [_names(nodes[a:b]), _names(nodes[c:d])]
            if names[0] != names[1]:
                yield f"branches of {place}", exchanged(nodes, place)


def _names(nodes: Nodes) -> list[str]:
    return [str(nodes[i].get("sourceName")) for i in sources(nodes)]


def union_branch(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A branch less, or a branch more that reads a source of its own."""
    for place in _stateful(nodes, "Union"):
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
        where = {"class": _PLAN + "Filter", "num-children": 1, "condition": condition, "child": 0}
        yield f"filter above {word(node)} {place}", [*nodes[:place], where, *nodes[place:]]


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


def _origin_is(nodes: Nodes, found: dict, key: dict) -> bool:
    return origin(nodes, number(found)) == origin(nodes, number(key))


def _plain_keys(nodes: Nodes) -> list[dict]:
    keys: dict[int, dict] = {}
    for place in _stateful(nodes, "Aggregate", "Deduplicate", "DeduplicateWithinWatermark"):
        part = nodes[place].get("groupingExpressions") or nodes[place].get("keys") or []
        below = {number(a) for s in sources(nodes) for a in output(nodes, s)}
        for expression in part:
            head = expression[0]
            if word(head) == "AttributeReference" and _root(nodes, head) in below:
                keys[number(head)] = head
    return list(keys.values())


def _root(nodes: Nodes, attribute: dict) -> int:
    return origin(nodes, number(attribute))


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
    for place in _stateful(nodes, "Aggregate"):
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


def other_udf(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A function of another name."""
    changed = copy.deepcopy(nodes)
    for found in dicts(changed):
        if word(found) in ("PythonUDF", "ScalaUDF") and found.get("name"):
            found["name"] = f"{found['name']}_other"
    yield "all functions", changed


def source_path(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """A file source reads another folder."""
    for place in sources(nodes):
        if str(nodes[place].get("sourceName", "")).startswith("FileSource["):
            changed = copy.deepcopy(nodes)
            changed[place]["sourceName"] = f"FileSource[{ELSEWHERE}]"
            yield f"source {place}", changed


# What changes nothing.


def unchanged(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Nothing."""
    yield "nothing", nodes


def renumbered(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Other numbers of attributes."""
    for found in dicts(nodes):
        if "jvmId" in found and "id" in found:
            found["id"] = 1_000_000 - found["id"]
    yield "all ids", nodes


def renamed_alias(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Another name for a column between two operators."""
    used = {number(a) for a in attributes(nodes)}
    top = {number(a) for a in output(nodes, 0)}
    for found in [d for d in dicts(nodes) if word(d) == "Alias"]:
        if number(found) in used - top:
            changed = copy.deepcopy(nodes)
            for other in dicts(changed):
                if word(other) in ("Alias", "AttributeReference") and number(other) == number(
                    found
                ):
                    other["name"] = "renamed_by_hand"
            yield f"{found['name']}", changed


def reordered_conditions(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Conditions in another order, where the order decides nothing."""
    for place in _stateful(nodes, "Filter", "Join"):
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


CHANGES: dict[str, tuple[Change, frozenset[Any], bool]] = {
    "other function": (other_function, HARM, True),
    "other grouping key": (other_key, HARM, True),
    "other argument": (other_argument, HARM, True),
    "keys exchanged": (keys_exchanged, HARM, True),
    "other duplicates": (other_duplicates, HARM, True),
    "other join key": (other_join_key, HARM, True),
    "join sides": (join_sides, HARM, True),
    "join type": (join_type, MIXED, True),
    "join condition": (join_condition, MIXED, True),
    "filter condition": (filter_condition, MIXED, True),
    "window grid": (window_grid, HARM, True),
    "watermark column": (watermark_column, HARM | {OK}, True),
    "watermark removed": (watermark_removed, MIXED, True),
    "state removed": (state_removed, HARM, True),
    "union order": (union_order, HARM, True),
    "union branch": (union_branch, HARM, True),
    "inserted state": (inserted_state, HARM, True),
    "inserted filter": (inserted_filter, MIXED, True),
    "key type": (key_type, HARM, True),
    "key nullable": (key_nullable, HARM, True),
    "value type": (value_type, HARM, True),
    "other udf": (other_udf, MIXED, True),
    "source path": (source_path, HARM, True),
    "unchanged": (unchanged, HARMLESS, False),
    "renumbered": (renumbered, HARMLESS, False),
    "renamed alias": (renamed_alias, HARMLESS, False),
    "reordered conditions": (reordered_conditions, HARMLESS, False),
}
