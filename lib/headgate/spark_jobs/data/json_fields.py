"""Find the type of a field of the JSON that a result's column `value` is made of, in the plan."""

from __future__ import annotations

from typing import Any

from headgate.spark_jobs.spark_reflection import elements, id_of, kind_of, nodes_of


def json_kind(rows: Any, field: str) -> str | None:
    """Return the type in Spark's words, such as `bigint`; None if the plan doesn't have it.

    `field` has dots between the names of nested fields.
    """
    plan = rows._jdf.queryExecution().analyzed()
    (value,) = [a for a in elements(plan.output()) if str(a.name()).lower() == "value"] or [None]
    kind = _made_of(plan, value) if value is not None else None
    for name in field.split("."):
        if kind is None or kind_of(kind) != "StructType" or name not in list(kind.fieldNames()):
            return None
        kind = kind.apply(name).dataType()
    return str(kind.simpleString()) if kind is not None else None


def _made_of(plan: Any, expression: Any) -> Any:
    """Return the type of what `to_json` gets, None if something else makes the expression."""
    kind = kind_of(expression)
    if kind in ("Cast", "Alias"):
        return _made_of(plan, expression.child())
    if kind == "StructsToJson":
        return expression.child().dataType()
    if kind == "AttributeReference":
        made = _alias(plan, id_of(expression))
        return _made_of(plan, made) if made is not None else None
    return None


def _alias(plan: Any, number: int) -> Any:
    """Return the expression that a projection gives this number, None if there is none."""
    for node in nodes_of(plan):
        for entry in elements(node.projectList()) if kind_of(node) == "Project" else ():
            if kind_of(entry) == "Alias" and id_of(entry) == number:
                return entry
    return None
