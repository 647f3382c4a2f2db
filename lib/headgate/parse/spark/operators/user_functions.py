"""The user-defined functions that a query calls: their bodies are in no plan."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headgate.parse.spark.explain.printed_plan import Plan

_PYTHON = re.compile(r"(?P<name>[\w<>]+)\(")
_SCALA = re.compile(r"\bUDF\(|\bscalaudf\(", re.IGNORECASE)
_NUMBERED_CALL = re.compile(r"\)#\d+")
_WORD_AT_END = re.compile(r"[\w<>.]+$")
_EVALUATED = ("ArrowEvalPython", "BatchEvalPython", "ArrowAggregatePython", "AggregateInPandas")
# They hand rows, or groups of them, to one function.
_HANDED = (
    "ArrowEvalPythonUDTF",
    "BatchEvalPythonUDTF",
    "MapInPandas",
    "MapInArrow",
    "PythonMapInArrow",
    "FlatMapGroupsInPandas",
    "FlatMapGroupsInArrow",
    "FlatMapCoGroupsInPandas",
    "FlatMapCoGroupsInArrow",
)
_TYPED = ("MapElements", "MapPartitions", "AppendColumns", "FlatMapGroups", "CoGroup")
TYPED_STEP = "typed Dataset functions"
"""Shown for all Scala and Java functions over objects: their real names change with each start."""


def user_functions(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return their names, sorted; `UDF` and `TYPED_STEP` stand for those that have none."""
    found: set[str] = set()
    for plan in plans:
        for node in plan.nodes:
            argument = node.argument()
            if node.name in _EVALUATED:
                found.update(m["name"] for m in _PYTHON.finditer(argument.split("]")[0]))
            elif node.name in _HANDED:
                found.update(m["name"] for m in [_PYTHON.search(argument)] if m)
            elif node.name in _TYPED:
                found.add(TYPED_STEP)
            elif "udf(" in argument.lower() and _SCALA.search(argument):
                found.add("UDF")
    return tuple(sorted(found))


def python_calls(text: str) -> list[str]:
    """Return the Python functions in an expression: `twice(v#1)#2` has a number of its own.

    An attribute that is called like a call (`sum(v)#3`) has none within.
    """
    out = []
    for match in _NUMBERED_CALL.finditer(text):
        begin = _opening(text, match.start())
        name = _WORD_AT_END.search(text[:begin]) if begin is not None else None
        if name and "#" in text[begin : match.start()]:
            out.append(name.group())
    return out


def _opening(text: str, closing: int) -> int | None:
    depth = 0
    for at in range(closing, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return None
