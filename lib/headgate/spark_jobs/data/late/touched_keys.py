"""Find the keys whose results late records change, in the plan of the query over these records.

A result belongs to a key if its columns are what every aggregation groups by, or made of it: then
no record of another key can change it. A condition after an aggregation (`having`) is left out
here: the late records may not meet it by themselves, but together with the others they may.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.spark_reflection import (
    companion,
    elements,
    id_of,
    kind_of,
    nodes_of,
    output_ids,
)

# They give each row of their input once, or leave it out by a condition.
_PASSES = frozenset(
    {
        *("Project", "Filter", "SubqueryAlias", "Sort", "Repartition", "RepartitionByExpression"),
        *("CollectMetrics", "View", "Union", "Aggregate", "ResolvedHint", "UnresolvedHint"),
    }
)

_MARK = "headgate_late"
PLACE = "headgate_place"
"""Column by which a late record that is in several files is found."""
# What Spark notes of the column of a session window.
_SESSION = "spark.sessionWindow"
# And of that of a window.
_WINDOW = "spark.timeWindow"
# Their order in files is that of Spark. Of floating point numbers it isn't: NaN is the largest.
_ORDERED = frozenset(
    {"tinyint", "smallint", "int", "bigint", "date", "timestamp", "timestamp_ntz", "string"}
)


class SessionKeyError(CaptureError):
    """A key column is made of a session window, which late records can make longer."""

    next_step = "Pass only the other columns as the key."


def key_columns(rows: Any, names: Sequence[str], option: str = "--keys") -> list[str]:
    """Return the names as the result has them; CaptureError if it has no such column."""
    columns = {c.lower(): c for c in rows.columns}
    for name in names:
        if name.lower() not in columns:
            raise CaptureError(
                f"{option}: the result has no column {name}. Its columns: {', '.join(rows.columns)}"
            )
    return [columns[name.lower()] for name in names]


def touched_keys(late: Any, columns: Sequence[str]) -> Any:
    """Return the distinct keys of the results of late records, as columns `headgate_0`, ..."""
    from pyspark.sql import functions as f

    rows = _without_conditions(late)
    named = [f.col(f"`{c}`").alias(f"headgate_{n}") for n, c in enumerate(columns)]
    return rows.select(*named).distinct()


def key_bounds(keys: Any, schema: Any, columns: Sequence[str]) -> tuple[int, Any]:
    """Return the number of `touched_keys`, and a condition that each row with one of them meets.

    Parquet and ORC keep the lowest and highest values of a file's columns. By this condition,
    Spark leaves out files without touched keys before it reads their rows; by a join it can't.
    `schema` is that of the results.
    """
    from pyspark.sql import functions as f

    parts = [part for n, c in enumerate(columns) if (part := _ordered(n, c, schema[c].dataType))]
    asked = [f.count(f.lit(1))]
    for key, _, kind in parts:
        at = f.col(key)
        told = f.unix_micros(at) if kind == "timestamp" else at.cast("string")
        asked += [f.min_by(told, at), f.max_by(told, at), f.max(at.isNull())]
    pairs, *found = keys.agg(*asked).first()
    condition = f.lit(True)
    for n, (_, column, kind) in enumerate(parts):
        low, high, has_null = found[3 * n : 3 * n + 3]
        if has_null and column.endswith(".start"):
            # Of a struct that is null, ORC doesn't count its fields as null.
            continue
        first, last = (
            f.timestamp_micros(f.lit(v)) if kind == "timestamp" else f.lit(v).cast(kind)
            for v in (low, high)
        )
        one = (f.col(column) >= first) & (f.col(column) <= last)
        condition &= (one | f.col(column).isNull()) if has_null else one
    return pairs, condition


def _ordered(n: int, column: str, kind: Any) -> tuple[str, str, str] | None:
    """Return where keys and results have a value with an order, and its type.

    Of a window, this is its start.
    """
    key, name = f"headgate_{n}", f"`{column}`"
    if kind.typeName() == "struct" and "start" in kind.names:
        key, name, kind = f"{key}.start", f"{name}.start", kind["start"].dataType
    text = str(kind.simpleString())
    is_ordered = text in _ORDERED or text.startswith("decimal(")
    return (key, name, text) if is_ordered else None


def same_key(columns: Sequence[str]) -> Any:
    """Return the condition that a row's columns are those of `touched_keys`; null is a key, too."""
    from functools import reduce

    from pyspark.sql import functions as f

    pairs = (f.col(f"`{c}`").eqNullSafe(f.col(f"headgate_{n}")) for n, c in enumerate(columns))
    return reduce(lambda a, b: a & b, pairs)


def check_keys(rows: Any, columns: Sequence[str]) -> list[str]:
    """Return what has to be assumed; CaptureError if results don't belong to these keys."""
    plan = _analyzed(rows)
    outputs = {str(a.name()): id_of(a) for a in elements(plan.output())}
    assumed: list[str] = []
    for column in columns:
        _trace(plan, frozenset({outputs[column]}), column, assumed)
    return list(dict.fromkeys(assumed))


def has_window(rows: Any, columns: Sequence[str]) -> bool:
    """Return whether a column is the window of an aggregation, or its start or end, unchanged.

    A day made of the start of an hour isn't: it has results of other windows, too.
    """
    plan = _analyzed(rows)
    outputs = {str(a.name()): id_of(a) for a in elements(plan.output())}
    return any(_is_window(plan, outputs[column]) for column in columns)


def _is_window(node: Any, wanted: int) -> bool:
    kind, children = kind_of(node), elements(node.children())
    if kind not in ("Project", "Aggregate"):
        return len(children) == 1 and _is_window(children[0], wanted)
    entries = node.projectList() if kind == "Project" else node.aggregateExpressions()
    entry = next((e for e in elements(entries) if id_of(e) == wanted), None)
    if entry is not None and kind_of(entry) == "Alias":
        entry = entry.child()
        entry = entry.child() if kind_of(entry) == "GetStructField" else entry
    if entry is None or kind_of(entry) != "AttributeReference":
        return False
    is_marked = bool(entry.metadata().contains(_WINDOW))
    return is_marked if kind == "Aggregate" else _is_window(children[0], id_of(entry))


def marked(rows: Any) -> Any:
    """Return the rows of a source that are found again in the plan."""
    return rows.alias(_MARK)


def joins_itself(rows: Any) -> bool:
    """Return whether both sides of a join have marked rows."""
    joins = (n for n in nodes_of(_analyzed(rows)) if kind_of(n) == "Join")
    return any(all(map(_is_marked, elements(join.children()))) for join in joins)


def _is_marked(node: Any) -> bool:
    return any(
        kind_of(n) == "SubqueryAlias" and str(n.identifier().name()) == _MARK
        for n in nodes_of(node)
    )


def _trace(node: Any, ids: frozenset[int], column: str, assumed: list[str]) -> None:
    """Follow the attributes that a column is made of down to the sources."""
    kind = kind_of(node)
    if kind == "Aggregate":
        ids = _grouped(node, ids, column)
    elif kind == "Project":
        ids = _made_of(elements(node.projectList()), ids)
    elif kind == "Deduplicate" and not {id_of(k) for k in elements(node.keys())} & ids:
        names = [str(k.name()) for k in elements(node.keys())]
        # Our own deduplication of late records is by their place.
        if PLACE not in names:
            assumed.append(f"records with the same {', '.join(names)} have the same {column}")
    elif kind == "Union":
        _trace_union(node, ids, column, assumed)
        return
    for child in elements(node.children()):
        _trace(child, ids & output_ids(child) if kind == "Join" else ids, column, assumed)


def _grouped(node: Any, ids: frozenset[int], column: str) -> frozenset[int]:
    """Return the attributes that an aggregation's key columns are made of."""
    entries = {id_of(e): e for e in elements(node.aggregateExpressions())}
    for attribute in ids & entries.keys():
        if _has_aggregate(entries[attribute]):
            raise CaptureError(
                f"--keys: {column} is the result of an aggregation. Late records could change "
                "the key of a row. Pass columns that every aggregation groups by"
            )
        if _is_session(entries[attribute]):
            raise SessionKeyError(
                f"--keys: {column} belongs to a session window, which late records can extend. "
                "Pass only the other columns: all sessions of the same key are then replaced"
            )
    if ids and not ids & entries.keys() and elements(node.groupingExpressions()):
        raise CaptureError(
            f"--keys: an aggregation of the query doesn't group by {column}. Pass columns that "
            "every aggregation groups by"
        )
    return _made_of(list(entries.values()), ids)


def _is_session(entry: Any) -> bool:
    attributes = elements(entry.references().toSeq())
    return any(bool(a.metadata().contains(_SESSION)) for a in attributes)


def _made_of(entries: Sequence[Any], ids: frozenset[int]) -> frozenset[int]:
    found: set[int] = set()
    for entry in entries:
        if id_of(entry) not in ids:
            continue
        if kind_of(entry) == "AttributeReference":
            found.add(id_of(entry))
        else:
            found |= {id_of(a) for a in elements(entry.references().toSeq())}
    return frozenset(found)


def _trace_union(node: Any, ids: frozenset[int], column: str, assumed: list[str]) -> None:
    """Follow a column into each part of a union, by its position."""
    outputs = [id_of(a) for a in elements(node.output())]
    for child in elements(node.children()):
        of_child = [id_of(a) for a in elements(child.output())]
        mapped = frozenset(of_child[n] for n, one in enumerate(outputs) if one in ids)
        _trace(child, mapped, column, assumed)


def _without_conditions(rows: Any) -> Any:
    """Return the rows of the query without the conditions after an aggregation."""
    from pyspark.sql import DataFrame

    spark = rows.sparkSession
    jvm = spark._jvm
    changed = _rebuilt(_analyzed(rows), jvm)
    datasets = companion(jvm, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(datasets.ofRows(spark._jsparkSession, changed), spark)


def _rebuilt(node: Any, jvm: Any) -> Any:
    if not any(kind_of(n) == "Aggregate" for n in nodes_of(node)):
        return node
    kind = kind_of(node)
    is_lowest = kind == "Aggregate" and not any(
        kind_of(n) == "Aggregate" for child in elements(node.children()) for n in nodes_of(child)
    )
    if is_lowest:
        return node
    if kind not in _PASSES:
        raise CaptureError(
            f"the query has a {kind} after an aggregation, so Headgate can't find the affected "
            "keys. Use `headgate plan from-scratch`"
        )
    children = [_rebuilt(child, jvm) for child in elements(node.children())]
    if kind == "Filter":
        return children[0]
    return node.withNewChildren(jvm.PythonUtils.toSeq(children))


def _analyzed(rows: Any) -> Any:
    return rows._jdf.queryExecution().analyzed()


def _has_aggregate(expression: Any) -> bool:
    return any("Aggregat" in kind_of(n) or kind_of(n) == "PythonUDAF" for n in nodes_of(expression))
