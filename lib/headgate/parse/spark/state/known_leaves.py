"""Types of source columns that need no JSON: scans print them, some sources have fixed ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.parse.spark.explain.printed_plan import TypedColumn
from headgate.parse.spark.expression.type_names import from_sql
from headgate.parse.spark.operators.relation import Query, Relation

# KafkaRecordToRowConverter, RateStreamProvider: every column is nullable.
_FIXED: Mapping[str, Mapping[str, str]] = {
    "kafka": {
        "key": "binary",
        "value": "binary",
        "topic": "string",
        "partition": "integer",
        "offset": "long",
        "timestamp": "timestamp",
        "timestampType": "integer",
    },
    "rate": {"timestamp": "timestamp", "value": "long"},
}


def leaf_types(query: Query) -> dict[int, TypedColumn]:
    """Return the types of the columns of sources, by attribute number.

    A streaming file source makes every column nullable unless it is told otherwise
    (`spark.sql.streaming.fileSource.schema.forceNullable`); a static one's are unknown here.
    """
    out: dict[int, TypedColumn] = {}
    for relation in query.relations:
        if relation.kind in ("source", "static"):
            known = _known(relation)
            for column in relation.outputs:
                if column.id is not None and column.name in known:
                    nullable = True if relation.streaming else None
                    out[column.id] = TypedColumn(known[column.name], nullable)
    return out


def _known(relation: Relation) -> Mapping[str, Any]:
    if fixed := _FIXED.get(relation.extra.get("format", "")):
        return fixed
    if "read_schema" not in relation.extra:
        return {}
    found = from_sql(relation.extra.get("read_schema", ""))
    if not isinstance(found, dict):
        return {}
    return {str(f["name"]): f["type"] for f in found.get("fields", ())}


def same_session(query: Query, other: Query) -> bool:
    """Whether two forms number their attributes alike: they share a source's columns."""
    mine, theirs = (_leaf_columns(q) for q in (query, other))
    return bool(mine) and mine <= theirs


def _leaf_columns(query: Query) -> frozenset[tuple[int | None, str]]:
    leaves = (r for r in query.relations if r.kind in ("source", "static"))
    return frozenset((c.id, c.name) for r in leaves for c in r.outputs)
