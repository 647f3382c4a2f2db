"""Find out whether a result's time is its records' event time, or the start of its window.

Then results of a range of time come from records of this range and no others. A time that is made
of the event time otherwise, such as local time or the time of a delivery, isn't: its records can be
before or after the range.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from headgate.spark_jobs.spark_reflection import elements, id_of, kind_of, nodes_of, output_ids

# What Spark notes of the column of a window.
_WINDOWS = ("spark.timeWindow", "spark.sessionWindow")
# Of each watermark's column: of how many parts the unions are that it comes from.
_Marked = Mapping[int, int]


def is_event_time(rows: Any, named: str, watermarks: Collection[Any]) -> bool:
    """Return whether the column of a result holds a watermark's column, or a window's start of it.

    `value.FIELD` is a field of the JSON that `value` is made of. `watermarks` are those of
    `read_as_batch`.
    """
    plans = ((w.rows._jdf.queryExecution().analyzed(), w.column.lower()) for w in watermarks)
    marked = {
        id_of(a): _unions(plan, id_of(a))
        for plan, column in plans
        for a in elements(plan.output())
        if str(a.name()).lower() == column
    }
    plan = rows._jdf.queryExecution().analyzed()
    names = [named]
    outputs = {str(a.name()).lower(): a for a in elements(plan.output())}
    if named.lower() not in outputs:
        # A field of the JSON in `value`, or of a window: its start.
        names = named.split(".", 1)
    column = outputs.get(names[0].lower())
    return column is not None and _holds(plan, column, names[1:], marked)


def _holds(node: Any, expression: Any, fields: list[str], marked: _Marked) -> bool:
    """Follow an expression over a node's children down to a watermark's column."""
    kind = kind_of(expression)
    if kind == "AttributeReference":
        return _found(node, expression, fields, marked)
    if kind == "Alias":
        if _is_window(expression):
            return fields in ([], ["start"]) and _only_of(node, [expression], marked)
        return _holds(node, expression.child(), fields, marked)
    if kind == "GetStructField":
        return _holds(
            node, expression.child(), [str(expression.extractFieldName()), *fields], marked
        )
    is_same = kind == "Cast" and expression.dataType().sameType(expression.child().dataType())
    if is_same or (fields and kind in ("Cast", "StructsToJson")):
        return _holds(node, expression.child(), fields, marked)
    if fields and kind == "CreateNamedStruct":
        pairs = elements(expression.children())
        values = {str(n.value()).lower(): v for n, v in zip(pairs[::2], pairs[1::2], strict=True)}
        first, *rest = fields[0].split(".", 1) + fields[1:]
        value = values.get(first.lower())
        return value is not None and _holds(node, value, rest, marked)
    return False


def _found(node: Any, wanted: Any, fields: list[str], marked: _Marked) -> bool:
    """Look for the attribute where it is made: at this node or below it."""
    number, kind = id_of(wanted), kind_of(node)
    if not fields and number in marked and _unions(node, number) == marked[number]:
        return True
    if kind == "Expand" and _is_window(wanted):
        place = [id_of(a) for a in elements(node.output())].index(number)
        windows = [elements(one)[place] for one in elements(node.projections())]
        below = elements(node.children())[0]
        return fields in ([], ["start"]) and _only_of(below, windows, marked)
    entries = {"Project": "projectList", "Aggregate": "aggregateExpressions"}.get(kind)
    if entries is not None:
        for entry in elements(getattr(node, entries)()):
            if id_of(entry) == number and kind_of(entry) == "Alias":
                (child,) = elements(node.children())
                return _holds(child, entry, fields, marked)
    if kind == "Union":
        place = [id_of(a) for a in elements(node.output())].index(number)
        sides = elements(node.children())
        return all(_holds(s, elements(s.output())[place], fields, marked) for s in sides)
    below = [c for c in elements(node.children()) if number in output_ids(c)]
    return bool(below) and all(_found(c, wanted, fields, marked) for c in below)


def _only_of(node: Any, windows: list[Any], marked: _Marked) -> bool:
    """Return whether the only column of a window is a watermark's."""
    used = {id_of(a): a for w in windows for a in elements(w.references().toSeq())}
    return len(used) == 1 and all(_found(node, a, [], marked) for a in used.values())


def _is_window(column: Any) -> bool:
    return any(column.metadata().contains(kind) for kind in _WINDOWS)


def _unions(node: Any, number: int) -> int:
    """Return of how many parts the unions are that an attribute comes from.

    Spark makes one union of a union of unions, and the first part's attribute stands for all.
    """
    unions = (n for n in nodes_of(node) if kind_of(n) == "Union" and number in output_ids(n))
    return sum(len(elements(n.children())) for n in unions)
