"""Append rows to a table of a database, with columns and types that the table takes.

The table is empty and nobody else's. Each task writes in a transaction of its own, so a killed
program leaves some of the rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.output_address import TableOutput, parse_address
from headgate.spark_jobs.data.read_output import CONNECTIONS, given_connections

VALUE, LOCAL_TIME, JSON = "value", "local-time", "json"
# Each is a connection to the server. Spark's own limit, `numPartitions`, runs shuffles twice.
_MOST_TASKS = 16
_BATCH = "5000"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the table, the path of its value in a result, and how that is written.

    VALUE: as it is. LOCAL_TIME: a timestamp's time of day in the session's time zone. JSON: a
    struct, an array or a map as JSON.
    """

    name: str
    path: tuple[str, ...]
    form: str = VALUE


def read_columns(text: str | None) -> tuple[TableColumn, ...]:
    """Return what `[{"name", "path", "form"}]` says; CaptureError if it says nothing."""
    try:
        found = json.loads(text or "")
        return tuple(TableColumn(c["name"], tuple(c["path"]), c["form"]) for c in found)
    except (ValueError, KeyError, TypeError):
        raise CaptureError(
            '--columns: expected JSON such as [{"name": "city", "path": ["city"], "form": "value"}]'
        ) from None


def as_table_rows(rows: Any, columns: Sequence[TableColumn]) -> Any:
    """Return the rows with the table's columns, in as many partitions as may write at once."""
    named = (_value(column).alias(column.name) for column in columns)
    return rows.select(*named).coalesce(_MOST_TASKS)


def _value(column: TableColumn) -> Any:
    from pyspark.sql import functions as f

    first, *rest = column.path
    found = f.col("`" + first.replace("`", "``") + "`")
    for name in rest:
        found = found.getField(name)
    if column.form == LOCAL_TIME:
        # The driver would write it in the time zone of the executor's JVM.
        return found.cast("timestamp_ntz").cast("string")
    return f.to_json(found) if column.form == JSON else found


def append_rows(rows: Any, address: str) -> None:
    """Append the rows to `NAME.TABLE`; CaptureError if no settings of NAME are in CONNECTIONS."""
    found = parse_address(f"jdbc:{address}")
    assert isinstance(found, TableOutput)
    known = given_connections().jdbc
    if found.connection not in known:
        raise CaptureError(
            f"--to: the environment variable {CONNECTIONS} has no database {found.connection}. "
            'Set the variable to {"jdbc": {NAME: {"url", "user", "password"}}}'
        )
    options = {
        **known[found.connection],
        "dbtable": found.table,
        "driver": "org.postgresql.Driver",
        "batchsize": _BATCH,
        "reWriteBatchedInserts": "true",
        # The server reads a text as what the column is: json, uuid, an enum, a time.
        "stringtype": "unspecified",
    }
    writer = rows._jdf.write().format("jdbc")
    for name, value in options.items():
        writer = writer.option(name, value)
    writer.mode("append").save()
