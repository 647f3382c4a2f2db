"""Choose the query that a function meant, among what it returned and what it started."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headgate.errors import CaptureError
from headgate.spark_jobs.block_start import Unstarted, UnstartedQuery
from headgate.spark_jobs.planned_state import mode_object
from headgate.spark_jobs.spark_reflection import companion

_CHECKER = "org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker"
# Update comes first: where a query may run in both, update needs no watermark to emit rows.
_MODES = ("update", "append", "complete")
_CHOOSE = "choose one with --query, or with `query` in headgate.toml"
_UNNAMED = "(unnamed)"
_NAME_FIRST = f"{_CHOOSE}. Before that, give the unnamed query a name with queryName"
_WANTED = "return a streaming DataFrame or a DataStreamWriter, or start the query"


def chosen(
    returned: Any, started: list[Unstarted], name: str | None, entry_point: str
) -> tuple[Any, Unstarted | None]:
    """Return the query's DataFrame, and its writer where there is one.

    What was returned wins over what was started; of several that were started `name` picks one. A
    DataFrame that was returned and also started is taken as it was started.
    """
    if isinstance(returned, UnstartedQuery):
        query = returned.unstarted
    elif isinstance(returned, DataStreamWriter):
        query = Unstarted(returned)
    elif isinstance(returned, DataFrame):
        same = [q for q in started if _frame(q) is returned or _plan(q) == _plan_of(returned)]
        return _checked(returned, entry_point), same[0] if len(same) == 1 else None
    elif returned is None or started:
        query = _named(started, name, entry_point)
    else:
        kind = type(returned).__name__
        raise CaptureError(f"{entry_point} returned {kind}: {_WANTED}")
    return _checked(_frame(query), entry_point), query


def with_any_sink(df: Any) -> tuple[Unstarted, str]:
    """Return a writer for a DataFrame that has none, and the output mode that was chosen for it.

    It is the first mode in which Spark allows the query. The sink discards all rows.
    """
    mode = next((m for m in _MODES if _is_allowed(df, m)), "append")
    return Unstarted(df.writeStream.format("noop").outputMode(mode)), mode


def _is_allowed(df: Any, mode: str) -> bool:
    jvm = df.sparkSession._jvm
    try:
        companion(jvm, _CHECKER).checkForStreaming(
            df._jdf.queryExecution().analyzed(), mode_object(jvm, mode)
        )
    except Py4JJavaError:
        return False
    return True


def _frame(query: Unstarted) -> Any:
    return query.writer._df


def _plan(query: Unstarted) -> str:
    return _plan_of(_frame(query))


def _plan_of(df: Any) -> str:
    return str(df._jdf.queryExecution().analyzed().toString())


def _checked(df: Any, entry_point: str) -> Any:
    if not df.isStreaming:
        raise CaptureError(f"{entry_point} returned a batch DataFrame: {_WANTED}")
    return df


def _named(started: list[Unstarted], name: str | None, entry_point: str) -> Unstarted:
    if not started:
        raise CaptureError(f"{entry_point} returned nothing and started no query: {_WANTED}")
    found = [q for q in started if name is None or q.name == name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(q.name or _UNNAMED for q in started)
    choose = _CHOOSE if all(q.name for q in started) else _NAME_FIRST
    if not found:
        raise CaptureError(f"{entry_point} starts no query {name!r}, only {names}: {choose}")
    raise CaptureError(f"{entry_point} starts several queries ({names}): {choose}")
