"""What Catalyst makes of a query: the optimized plan in a form that two sessions can compare.

`sameResult` compares two plans of one session. Two versions have a session each, so their canonical
plans are compared as text and as JSON: the text has intervals, the JSON has time zones and ANSI
modes. Neither names the files of a relation, so the sources are added: two tables with the same
columns are not one. Ids of a session and of its watermarks are numbered in the order of their
appearance.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headgate.spark_jobs.spark_reflection import elements, kind_of

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OBJECT = re.compile(r"(?<=[\w$])@[0-9a-f]{4,}\b")
_STATEFUL = re.compile(
    "Aggregate|Deduplicate|DeduplicateWithinWatermark|GlobalLimit|FlatMapGroups.*|TransformWithState.*"
)
_PLACE = re.compile(r"#(\d+)")
# A key in an aggregation's output, and the name of a column there.
_ALONE, _NAMED = re.compile(r"\w*#\d+(?:-T\d+\w*)?"), re.compile(r" AS \w*#\w+(?:-T\w+)?$")
_KEYS = ("groupingExpressions", "keys", "groupingAttributes", "condition")
_FIELDS = "spark.sql.debug.maxToStringFields"


def canonical_plan(df: Any) -> dict[str, Any] | None:
    """Return `{"plan", "operators": [{"operator", "inputs", "keys", "values"}]}`, digests each.

    Operators with state are in the order of their ids: the one that is next to the sink is
    first. None if Spark can't optimize the plan without running it.
    """
    spark = df.sparkSession
    shown = spark.conf.get(_FIELDS)
    spark.conf.set(_FIELDS, "100000")
    try:
        analyzed = df._jdf.queryExecution().analyzed()
        plan = spark._jsparkSession.sessionState().optimizer().execute(analyzed)
        return {
            "plan": _digest_plan(plan.canonicalized()),
            "operators": [_operator(node) for node in stateful_operators(plan)],
        }
    except Exception:  # an optimization that needs the source's or a function's answer
        return None
    finally:
        spark.conf.set(_FIELDS, shown)


def _operator(node: Any) -> dict[str, Any]:
    plain = node.canonicalized()
    tree = json.loads(plain.toJSON())[0]
    keys = {name: tree.pop(name) for name in _KEYS if name in tree}
    # The text has what JSON leaves out, and the keys with it: they are the same where it is used.
    rest = "" if keys else str(plain.simpleString(100_000))
    inputs, made = _inputs(plain)
    return {
        "operator": str(node.nodeName()),
        "inputs": inputs,
        "keys": _hash(_plain(json.dumps(keys)) + "".join(made)),
        "values": _hash(_plain(rest + json.dumps(tree))),
    }


def _inputs(plain: Any) -> tuple[list[str], list[str]]:
    """Return digests of a canonical operator's inputs, and of the expressions that make its keys.

    Catalyst computes the keys of an aggregation in a projection below it. They are no input: two
    versions may read the same rows, and put them under other keys.
    """
    children = elements(plain.children())
    below = children[0]
    is_projected = kind_of(below) == "Project"
    if kind_of(plain) != "Aggregate" or not is_projected:
        return [_digest_plan(child) for child in children], []
    # In a canonical plan the number of an attribute is its place in the child's output.
    keys = {n for key in elements(plain.groupingExpressions()) for n in _places(key.toString())}
    for column in elements(plain.aggregateExpressions()):
        text = _NAMED.sub("", str(column.toString()))
        if not _ALONE.fullmatch(text):
            # A key that a function reads, too, is one of its inputs.
            keys -= _places(text)
    columns = [_digest(column) for column in elements(below.projectList())]
    others = [digest for place, digest in enumerate(columns) if place not in keys]
    inputs = [_digest_plan(elements(below.children())[0]), *others]
    return inputs, [columns[place] for place in sorted(keys) if place < len(columns)]


def _places(text: Any) -> set[int]:
    return {int(place) for place in _PLACE.findall(str(text))}


def stateful_operators(plan: Any) -> Iterator[Any]:
    """Yield the operators that keep state, from the sink on."""
    children = elements(plan.children())
    streams = [child for child in children if child.isStreaming()]
    name = kind_of(plan)
    if streams and (_STATEFUL.fullmatch(name) or (name == "Join" and len(streams) > 1)):
        yield plan
    for child in children:
        yield from stateful_operators(child)


def source_folder(leaf: Any) -> str | None:
    """Return the folder that a leaf of a plan over generated rows reads."""
    kind = kind_of(leaf)
    if kind == "StreamingRelation":
        return str(leaf.dataSource().options().apply("path"))
    if kind == "LogicalRelation":
        location = leaf.relation().location().rootPaths().head().toString()
        return str(location).removeprefix("file:")
    return None


def leaf_nodes(plan: Any) -> Iterator[Any]:
    """Yield the leaves of a plan and of the subqueries in its expressions."""
    for part in (plan, *elements(plan.subqueriesAll())):
        yield from elements(part.collectLeaves())


def _digest_plan(plan: Any) -> str:
    read = [Path(source_folder(leaf) or "").name for leaf in leaf_nodes(plan)]
    return _hash(_digest(plan) + json.dumps(read))


def _digest(node: Any) -> str:
    return _hash(_plain(str(node.toString())) + _plain(str(node.toJSON())))


def _plain(text: str) -> str:
    """Return text without what differs from session to session."""
    known: dict[str, str] = {}
    text = _UUID.sub(lambda m: known.setdefault(m[0], f"id-{len(known)}"), text)
    return _OBJECT.sub("", text)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
