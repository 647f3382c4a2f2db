"""The table of a database whose rows are replaced: which touched keys it has results of.

A run writes new results and the touched keys to tables of its own; the database replaces the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from headgate.errors import CaptureError, OutputError
from headgate.model.tables import values_of
from headgate.spark_jobs.data.late.late_records import MOST_SENT
from headgate.spark_jobs.data.output_address import JDBC, TableOutput, parse_address
from headgate.spark_jobs.data.read_output import given_connections, read_output
from headgate.spark_jobs.data.write_table import (
    TableColumn,
    append_rows,
    as_table_rows,
    read_columns,
)

_FOUND = "headgate_found"
# Where Spark notes that a column of strings is `char(8)`. Source: CharVarcharUtils of Spark 4.
_DECLARED = "__CHAR_VARCHAR_TYPE_STRING"


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
        rows = self._rows(touch.rows.sparkSession)
        kinds = {c: kind for c, kind in touch.rows.dtypes if c in touch.columns}
        values = list(values_of(kinds, rows.columns))
        none = {"files": 0, "touched_files": 0, "bytes": 0, "touched_bytes": 0, "nulls": []}
        if any(name not in rows.columns for name, _, _ in values):
            return {**none, "rows": 0, "touched_rows": 0}
        keys = touch.keys.toDF(*touch.columns)
        keys = as_table_rows(keys, [TableColumn(name, path) for name, path, _ in values])
        keys = keys.distinct().persist()
        count, touched = _counts(rows, keys, values, is_small=touch.pairs <= MOST_SENT)
        return {**none, "rows": count, "touched_rows": touched, "nulls": _with_nulls(keys)}

    def _rows(self, spark: Any) -> Any:
        try:
            return read_output(spark, self.address, given_connections()).rows
        except OutputError as error:
            raise CaptureError(f"the table with the old results: {error}") from None


def _counts(
    rows: Any, keys: Any, values: Sequence[tuple[str, Any, str]], *, is_small: bool
) -> tuple[int, int]:
    """Return how many rows a table has, and how many of them have one of the keys."""
    from pyspark.sql import functions as f

    kinds = {c.name: c.metadata.get(_DECLARED, c.dataType.simpleString()) for c in rows.schema}
    there = {name: f"headgate_{n}" for n, (name, _, _) in enumerate(values)}
    rows = rows.select(
        *(_as_key(f.col(f"`{c}`"), kinds[c], kind).alias(there[c]) for c, _, kind in values)
    )
    pairs = (f.col(new).eqNullSafe(f.col(f"`{name}`")) for name, new in there.items())
    sent = (f.broadcast(keys) if is_small else keys).withColumn(_FOUND, f.lit(1))
    found = rows.join(sent, reduce(lambda a, b: a & b, pairs), "left_outer")
    count, touched = found.agg(f.count(f.lit(1)), f.count(_FOUND)).first()
    return count, touched


def _with_nulls(keys: Any) -> list[str]:
    """Return the columns in which a key has no value."""
    from pyspark.sql import functions as f

    asked = (f.max(f.col(f"`{name}`").isNull()).alias(name) for name in keys.columns)
    return [name for name, is_null in keys.agg(*asked).first().asDict().items() if is_null]


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
    names = [name.removeprefix(JDBC) for name in (to, touched)]
    return StagingTables(names[0], names[1], read_columns(columns))
