"""What Catalyst makes of a query: the optimized plan in a form that two sessions can compare.

`sameResult` compares two plans of one session. Two versions have a session each, so their canonical
plans are compared as text and as JSON: the text has intervals, the JSON has time zones and ANSI
modes. Ids of a session and of its watermarks are numbered in the order in which they stand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from headgate.spark_jobs.spark_reflection import elements

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OBJECT = re.compile(r"(?<=[\w$])@[0-9a-f]{4,}\b")
_STATEFUL = re.compile(
    "Aggregate|Deduplicate|DeduplicateWithinWatermark|GlobalLimit|FlatMapGroups.*|TransformWithState.*"
)
_KEYS = ("groupingExpressions", "keys", "groupingAttributes", "condition")
_FIELDS = "spark.sql.debug.maxToStringFields"


def canonical_plan(df: Any) -> dict[str, Any] | None:
    """Return `{"plan", "operators": [{"operator", "inputs", "keys", "values"}]}`, digests each.

    Operators with state stand in the order of their ids: the one that is next to the sink is
    first. None if Spark can't optimize the plan without running it.
    """
    spark = df.sparkSession
    shown = spark.conf.get(_FIELDS)
    spark.conf.set(_FIELDS, "100000")
    try:
        analyzed = df._jdf.queryExecution().analyzed()
        plan = spark._jsparkSession.sessionState().optimizer().execute(analyzed)
        return {
            "plan": _digest(plan.canonicalized()),
            "operators": [_operator(node) for node in _stateful(plan)],
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
    return {
        "operator": str(node.nodeName()),
        "inputs": [_digest(child.canonicalized()) for child in elements(node.children())],
        "keys": _hash(_plain(json.dumps(keys))),
        "values": _hash(_plain(rest + json.dumps(tree))),
    }


def _stateful(plan: Any) -> Iterator[Any]:
    """Yield the operators that keep state, from the sink on."""
    children = elements(plan.children())
    streams = [child for child in children if child.isStreaming()]
    name = str(plan.getClass().getSimpleName())
    if streams and (_STATEFUL.fullmatch(name) or (name == "Join" and len(streams) > 1)):
        yield plan
    for child in children:
        yield from _stateful(child)


def _digest(plan: Any) -> str:
    return _hash(_plain(str(plan.toString())) + _plain(str(plan.toJSON())))


def _plain(text: str) -> str:
    """Return text without what differs from session to session."""
    known: dict[str, str] = {}
    text = _UUID.sub(lambda m: known.setdefault(m[0], f"id-{len(known)}"), text)
    return _OBJECT.sub("", text)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
