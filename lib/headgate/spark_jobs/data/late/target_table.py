"""The table of a database whose rows are replaced: which touched keys it has results of.

A run writes new results and the touched keys to tables of its own; the database replaces the rows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from headgate.errors import CaptureError, OutputError
from headgate.model.tables import values_of
from headgate.spark_jobs.data.compare_outputs import CONNECTIONS
from headgate.spark_jobs.data.late.late_records import MOST_SENT
from headgate.spark_jobs.data.output_address import TableOutput, parse_address
from headgate.spark_jobs.data.read_output import Connections, read_output
from headgate.spark_jobs.data.write_table import (
    TableColumn,
    append_rows,
    as_table_rows,
    read_columns,
)

JDBC = "jdbc:"
_THERE, _FOUND = "headgate_there", "headgate_found"


@dataclass(frozen=True, slots=True)
class TargetTable:
    """A table of a database, by its name in CONNECTIONS."""

    address: TableOutput

    def check(self, like: Any) -> None:
        """Nothing: whoever makes the plan compares the columns and their types."""

    def facts(self, touch: Any) -> dict[str, Any]:
        """Return how many rows there are, and how many have results of the touched keys.

        Spark reads only the columns of the keys. Both are 0 if the table lacks one of them.
        """
        from pyspark.sql import functions as f

        rows = self._rows(touch.rows.sparkSession)
        kinds = {c: kind for c, kind in touch.rows.dtypes if c in touch.columns}
        columns = list(values_of(kinds, rows.columns))
        none = {"files": 0, "touched_files": 0, "bytes": 0, "touched_bytes": 0, "nulls": []}
        if any(name not in rows.columns for name, _, _ in columns):
            return {**none, "rows": 0, "touched_rows": 0}
        keys = touch.keys.toDF(*touch.columns)
        keys = as_table_rows(keys, [TableColumn(name, path) for name, path, _ in columns])
        keys = keys.distinct().persist()
        nulls = [f.max(f.col(f"`{name}`").isNull()).alias(name) for name, _, _ in columns]
        empty = keys.agg(*nulls).first().asDict()
        sent = f.broadcast(keys) if touch.pairs <= MOST_SENT else keys
        sent = sent.withColumn(_FOUND, f.lit(1))
        there = dict(rows.dtypes)
        named = rows.select(
            *(
                _as_key(f.col(f"`{name}`"), there[name], kind).alias(f"{_THERE}_{n}")
                for n, (name, _, kind) in enumerate(columns)
            )
        )
        is_same = reduce(
            lambda a, b: a & b,
            (
                f.col(f"{_THERE}_{n}").eqNullSafe(f.col(f"`{name}`"))
                for n, (name, _, _) in enumerate(columns)
            ),
        )
        one = f.count(f.lit(1)), f.count(_FOUND)
        count, touched = named.join(sent, is_same, "left_outer").agg(*one).first()
        nulls_there = [name for name, is_null in empty.items() if is_null]
        return {**none, "rows": count, "touched_rows": touched, "nulls": nulls_there}

    def _rows(self, spark: Any) -> Any:
        known = json.loads(os.environ.get(CONNECTIONS) or "{}")
        try:
            return read_output(spark, self.address, Connections(jdbc=known.get("jdbc", {}))).rows
        except OutputError as error:
            raise CaptureError(f"--target: {error}") from None


def _as_key(column: Any, there: str, wanted: str) -> Any:
    """Return a column of the table as the type of the key: null if a value is none of these."""
    from pyspark.sql import functions as f

    if wanted.startswith(("struct<", "array<", "map<")):
        return f.from_json(column, wanted)
    if there.startswith("char("):
        # The database ignores the spaces at the end.
        return f.rtrim(column)
    return column if there == wanted else column.try_cast(wanted)


def read_table(text: str) -> TargetTable:
    """Return the table that `jdbc:NAME.TABLE` names; CaptureError if it names none."""
    try:
        found = parse_address(text)
    except OutputError as error:
        raise CaptureError(f"--target: {error}") from None
    assert isinstance(found, TableOutput)
    return TargetTable(found)


@dataclass(frozen=True, slots=True)
class StagingTables:
    """The run's own empty tables for results and touched keys, as `NAME.TABLE`."""

    results: str
    touched: str
    columns: Sequence[TableColumn]

    def write(self, results: Any, touch: Any) -> Mapping[str, int]:
        """Append the results and the keys; return no more counts."""
        append_rows(as_table_rows(results, self.columns), self.results)
        of_keys = [c for c in self.columns if c.path[0] in touch.columns]
        append_rows(as_table_rows(touch.keys.toDF(*touch.columns), of_keys), self.touched)
        return {}


def read_staging(to: str, touched: str | None, columns: str | None) -> StagingTables:
    """Return what the options say; CaptureError if a table of keys is missing."""
    if not to.startswith(JDBC) or not touched or not touched.startswith(JDBC):
        raise CaptureError(
            "--to, --touched: expected jdbc:NAME.TABLE, because --target is a table. Pass two "
            "empty tables"
        )
    tables = (name.removeprefix(JDBC) for name in (to, touched))
    return StagingTables(*tables, read_columns(columns))
