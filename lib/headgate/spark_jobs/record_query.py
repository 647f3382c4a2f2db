"""Write down what a session knows of a query that has not started."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.spark_jobs.block_sources import EmptyFolders
from headgate.spark_jobs.block_start import Unstarted
from headgate.spark_jobs.engine_error import java_error
from headgate.spark_jobs.planned_state import mode_object, planned_state
from headgate.spark_jobs.spark_reflection import (
    case_kept,
    companion,
    elements,
    field,
    kind_of,
    option,
    streaming_sources,
    trigger_words,
)
from headgate.spark_jobs.user_functions import UsedFunctions
from headgate.text.secrets import MASK, is_secret, mask, mask_text

_SHORTEST = 4


def secrets_in(options: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the values of secret keys, longest first, too short ones left out."""
    found = {v for o in options for k, v in o.items() if is_secret(k)}
    return tuple(sorted((v for v in found if len(v) >= _SHORTEST), key=len, reverse=True))


def without(text: str, secrets: Iterable[str]) -> str:
    """Return text without these secrets, and without passwords in URLs."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return mask_text(text)


def in_strings(data: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with every string value changed; keys stay."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [in_strings(item, change) for item in data]
    if isinstance(data, dict):
        return {key: in_strings(value, change) for key, value in data.items()}
    return data


_CHECKER = "org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker"
_CHECKPOINT = "checkpointlocation"


@dataclass(frozen=True, slots=True)
class RecordFolder:
    """`pieces` is for the evidence, `scratch` for everything else."""

    pieces: Path
    scratch: Path


def record(
    df: Any, query: Unstarted | None, used: UsedFunctions, folders: EmptyFolders, into: RecordFolder
) -> None:
    """Write explain.txt, logical.json, capture.json and, unless Spark can't plan it, formatted.txt.

    `capture.json` holds `sources`, `sink`, `output` (the schema of the columns that the sink gets,
    in Spark's JSON), `checkpoint`, `output_mode`, `trigger`, `name`,
    `spark_version`, `state` and `functions`, and `error` where Spark itself would refuse to start
    the query.
    """
    sources = streaming_sources(df._jdf.queryExecution().analyzed())
    sink = _sink(query) if query else None
    secrets = secrets_in([s["options"] for s in (*sources, *([sink] if sink else []))])
    logical = json.loads(df._jdf.queryExecution().analyzed().toJSON())
    capture = {
        "sources": sources,
        "sink": sink,
        "output": json.loads(df._jdf.schema().json()),
        "checkpoint": _checkpoint(query) if query else None,
        **_writing(query),
        "name": query.name if query else None,
        "spark_version": df.sparkSession.version,
        **_judged(df, query, into.scratch / "checkpoint" / "state"),
        "functions": used.in_plan(_function_names(logical))
        + (used.of_sink(query.writer) if query else []),
    }
    formatted = _formatted(df, capture)
    for part in (*sources, *([sink] if sink else [])):
        part["options"] = mask(part["options"])

    def shown(text: str) -> str:
        return without(folders.restored(text), secrets)

    def write(name: str, text: str) -> None:
        (into.pieces / name).write_text(text, encoding="utf-8")

    write("explain.txt", shown(_explained(df, "extended")))
    if formatted is not None:
        write("formatted.txt", shown(formatted))
    write("logical.json", json.dumps(in_strings(logical, shown), separators=(",", ":")))
    write("capture.json", json.dumps(in_strings(capture, shown), indent=1, ensure_ascii=False))


def record_settings(df: Any, before: Mapping[str, str], into: Path) -> None:
    """Write conf.json: the session's settings that the module or the function set."""
    after = dict(df.sparkSession.conf.getAll)
    settings = mask({k: v for k, v in sorted(after.items()) if before.get(k) != v})
    (into / "conf.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")


def _formatted(df: Any, capture: dict[str, Any]) -> str | None:
    """Return the formatted plan; None where Spark can't plan the query.

    If it can't plan the query's state either, no start can: that is the capture's `error`, though
    Spark has no condition for it.
    """
    try:
        return _explained(df, "formatted")
    except Exception as error:
        if java_error(error) is None:
            raise
        if capture["state"] is None and "error" not in capture:
            capture.pop("state_error", None)
            capture["error"] = refusal(error)
        return None


def _explained(df: Any, mode: str) -> str:
    utils = df.sparkSession._jvm.PythonSQLUtils
    return str(utils.explainString(explicable(df), mode))


def explicable(df: Any) -> Any:
    """Return the query execution to explain: of what `spark.sql` gave, one of its analysed plan.

    Spark searches the parsed plan for streaming sources, and a view's name is none: it would
    refuse to plan the query as a batch (`QueryExecution.explainString`).
    """
    execution = df._jdf.queryExecution()
    if execution.logical().isStreaming():
        return execution
    planner = df.sparkSession._jsparkSession.sessionState()
    return planner.executePlan(execution.analyzed(), getattr(planner, "executePlan$default$2")())


def _sink(query: Unstarted) -> dict[str, Any]:
    """Return the sink; `format` may be foreach or foreachBatch, `queryname` is a memory table."""
    writer = query.writer._jwrite
    options = case_kept(field(writer, "extraOptions"))
    by = option(field(writer, "partitioningColumns"))
    sink = {
        "format": str(field(writer, "source")),
        "options": {k.lower(): v for k, v in options.items() if k.lower() != _CHECKPOINT},
        "partition_by": [str(column) for column in elements(by)] if by is not None else None,
    }
    return sink | ({"table": query.table} if query.table else {})


def _checkpoint(query: Unstarted) -> str | None:
    """Return the writer's option `checkpointLocation`; the session may have a default."""
    options = case_kept(field(query.writer._jwrite, "extraOptions"))
    return next((v for k, v in options.items() if k.lower() == _CHECKPOINT), None)


def _writing(query: Unstarted | None) -> dict[str, Any]:
    if query is None:
        return {"output_mode": None, "trigger": None}
    writer = query.writer._jwrite
    return {
        "output_mode": str(field(writer, "outputMode").toString()),
        "trigger": trigger_words(field(writer, "trigger")),
    }


def _judged(df: Any, query: Unstarted | None, scratch: Path) -> dict[str, Any]:
    """Return `state`; None where it can't be planned, and then `error` or `state_error` says why.

    `error` is a refusal that Spark itself has a condition for: the query would not start either.
    """
    mode = str(field(query.writer._jwrite, "outputMode").toString()) if query else "Append"
    try:
        if query is not None:
            _check(df, query, mode)
        return {"state": planned_state(df, mode, scratch)}
    except Exception as error:
        key = "error" if _condition(error) else "state_error"
        return {"state": None, key: refusal(error)}


def _condition(error: Exception) -> str | None:
    thrown = getattr(error, "java_exception", error)
    try:
        return str(thrown.getCondition() or "") or None  # type: ignore[union-attr]
    except Exception:  # no Spark error, or one of before conditions
        return None


def _check(df: Any, query: Unstarted, mode: str) -> None:
    """Raise what Spark raises at `start()` where the plan and the output mode don't fit."""
    jvm = df.sparkSession._jvm
    checker = companion(jvm, _CHECKER)
    analyzed = df._jdf.queryExecution().analyzed()
    trigger = kind_of(field(query.writer._jwrite, "trigger"))
    continuous = trigger.startswith("ContinuousTrigger")
    check = checker.checkForContinuous if continuous else checker.checkForStreaming
    check(analyzed, mode_object(jvm, mode))


def refusal(error: Exception) -> str:
    """Return Spark's message in one line: its condition first, without the plan below it."""
    java = getattr(error, "java_exception", None)
    text = str(java.toString() if java is not None else error).strip() or type(error).__name__
    return text.split("\n", 1)[0].rstrip(";: ")


def _function_names(logical: Any) -> list[str]:
    """Return the names of the Python functions in a plan's JSON, in its order."""
    nodes: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            kind = str(value.get("class", "")).rpartition(".")[2]
            if kind.startswith("Python") and "name" in value:
                nodes.append(str(value["name"]))
            for item in value.values():
                walk(item)

    walk(logical)
    return nodes
