"""The user-defined functions that a query calls: their bodies are in no plan."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headgate.parse.spark.plan import Plan

_PYTHON = re.compile(r"(?P<name>[\w<>]+)\(")
_SCALA = re.compile(r"\bUDF\(|\bscalaudf\(", re.IGNORECASE)
_EVALUATED = ("ArrowEvalPython", "BatchEvalPython", "ArrowAggregatePython", "AggregateInPandas")


def user_functions(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return their names, sorted; `UDF` stands for those of Scala and Java, which have none."""
    found: set[str] = set()
    for plan in plans:
        for node in plan.nodes:
            if node.name in _EVALUATED:
                found.update(m["name"] for m in _PYTHON.finditer(node.argument().split("]")[0]))
            elif _SCALA.search(node.argument()):
                found.add("UDF")
    return tuple(sorted(found))
