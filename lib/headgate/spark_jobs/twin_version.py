"""The program that builds one version's query on generated rows, and runs it as often as asked.

It runs in a process of its own, with a JVM of its own, and stays until its standard input ends.
Each line there is a command: `{"do": "build" | "run" | "state", "reply": FILE, ...}`. A reply is a
JSON file that gets its name once it is complete. A second `build` takes a new session.
"""

from __future__ import annotations

import base64
import datetime
import json
import math
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from headgate.errors import BuildError, CaptureError
from headgate.spark_jobs.engine_error import java_error, stop_cause
from headgate.spark_jobs.guard_effects import SCRATCH, EffectGuard
from headgate.spark_jobs.own_process import (
    check_importable,
    commands,
    end,
    end_with_parent,
    forget_modules,
    loader,
    redirect,
)
from headgate.text.secrets import mask_text

_POLL_S = 0.02
_MOST_KEYS = 20_000
# A timeout in processing time starts batches without rows for ever.
_EMPTY_BATCHES = 5
_WITHHELD = "a twin run has no credentials, so this environment variable isn't set"


def main() -> None:
    """Start Spark as the JSON file in the only argument says, then obey."""
    end_with_parent()
    given = commands()
    wish = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    scratch = Path(wish["scratch"])
    redirect(scratch / "spark.log")
    guard = EffectGuard()
    guard.install()
    guard.allow(scratch)
    version = TwinVersion(scratch, wish["jars"], guard)
    works = {"build": version.build, "run": version.run, "state": version.state}
    for line in given:
        command = json.loads(line)
        _reply(Path(command["reply"]), partial(works[command["do"]], command))
    end()


def _reply(path: Path, work: Callable[[], dict[str, Any]]) -> None:
    try:
        found = work()
    except CaptureError as caught:
        found = {"failed": mask_text(str(caught)), "by": type(caught).__name__}
    except Exception as caught:
        traceback.print_exc(file=sys.stderr)
        reason = f"{type(caught).__name__}: {str(caught).split(chr(10), 1)[0]}"
        found = {"failed": mask_text(reason)}
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(found), encoding="utf-8")
    draft.replace(path)


class TwinVersion:
    """One version's query over generated rows."""

    def __init__(self, scratch: Path, jars: str, guard: EffectGuard) -> None:
        self.scratch, self.jars, self.guard = scratch, jars, guard
        self.spark: Any = None
        self.query: Any = None
        self.kind: str | None = None

    def build(self, command: dict[str, Any]) -> dict[str, Any]:
        """Build the query, record its evidence, and return what rows are made from."""
        entry_point, into = str(command["entry_point"]), Path(command["into"])
        forget_modules()
        check_importable(entry_point)
        self.guard.allow(into.parent)
        from headgate.spark_jobs import block_sources, block_start, code_constants, user_functions
        from headgate.spark_jobs.canonical_plan import canonical_plan
        from headgate.spark_jobs.choose_query import with_any_sink
        from headgate.spark_jobs.record_query import RecordFolder, record, record_settings
        from headgate.spark_jobs.replace_sources import GeneratedFolders, replace_readers

        self.spark = spark = self._session() if self.spark is None else self.spark.newSession()
        self.kind = None
        started = block_start.intercept_starts()
        block_start.ignore_listeners()
        used = user_functions.watch_functions()
        before = dict(spark.conf.getAll)
        # Once as a capture: rules judge the function's own sources, not the generated ones.
        unread = block_sources.EmptyFolders(into / ".scratch" / "unread")
        block_sources.guard_readers(unread)
        df, query = self._query(command, started)
        record_settings(df, before, into)
        record(df, query, used, unread, RecordFolder(into, into / ".scratch"))
        folders = GeneratedFolders(Path(command["rows"]))
        replace_readers(folders)
        started.clear()
        df, query = self._query(command, started)
        self.query = query or with_any_sink(df)[0]
        return {
            "sources": [_about(source) for source in folders.sources.values()],
            "leaves": list(_leaves(df)),
            "plan": json.loads(df._jdf.queryExecution().analyzed().toJSON()),
            "text": str(df._jdf.queryExecution().analyzed().toString()),
            "canonical": canonical_plan(df),
            "output_mode": _mode(self.query.writer),
            "constants": sorted(code_constants.of_module(entry_point.partition(":")[0])),
            "spark_version": str(spark.version),
        }

    def _query(self, command: dict[str, Any], started: list[Any]) -> tuple[Any, Any]:
        """Call the function, and return its DataFrame and its writer, None if it has none."""
        from headgate.spark_jobs.call_function import called
        from headgate.spark_jobs.choose_query import chosen

        for key, value in command["conf"].items():
            self.spark.conf.set(key, value)
        entry_point = str(command["entry_point"])
        _empty_catalog(self.spark)
        load = loader(entry_point)
        self.guard.is_armed = True
        try:
            returned = called(load, self.spark, entry_point, _WITHHELD)
        except CaptureError as error:
            module, _, function = entry_point.partition(":")
            if module in sys.modules and not hasattr(sys.modules[module], function):
                raise
            raise BuildError(str(error)) from error
        finally:
            self.guard.is_armed = False
        return chosen(returned, started, command["query"], entry_point)

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        """Take all rows that are there, one file a batch, on the checkpoint that is named."""
        from headgate.spark_jobs.replace_sink import ReplacedSink

        _list_tables(self.query.writer._df)
        for key, value in command["conf"].items():
            self.query.writer._spark.conf.set(key, value)
        sink = ReplacedSink(self.query, Path(command["output"]), self.kind)
        self.kind = sink.kind
        found: dict[str, Any] = {"error": None, "rows": [], "progress": [], "counts": []}
        try:
            sink.check()
            self._start(sink, command, found)
        except Exception as error:
            if java_error(error) is None:
                raise
            found["error"] = _error(sink.error or error) | {"stage": "start"}
        return found

    def _start(self, sink: Any, command: dict[str, Any], found: dict[str, Any]) -> None:
        from headgate.spark_jobs.plan_rows import BatchPlans

        java, deadline = sink.writer._jwrite, time.monotonic() + float(command["seconds"])
        java.option("checkpointLocation", command["checkpoint"])
        triggers = sink.writer._spark._jvm.org.apache.spark.sql.streaming.Trigger
        java.trigger(triggers.AvailableNow())
        query, plans = java.start(), BatchPlans()
        try:
            while query.isActive() and not _is_idle(query):
                plans.note(query)
                if time.monotonic() > deadline:
                    found["late"] = str(query.status().message())
                    return
                time.sleep(_POLL_S)
            # However short the batches were, the last one's plan is still there.
            plans.note(query)
            query.stop()
            failed = query.exception()
            if failed.isDefined():
                found["error"] = _error(sink.error or failed.get()) | {"stage": "batch"}
            else:
                found["rows"] = list(sink.every_row())
                found["counts"] = plans.counts() if command["counts"] else []
            found["progress"] = [json.loads(p.json()) for p in query.recentProgress()]
        finally:
            query.stop()

    def state(self, command: dict[str, Any]) -> dict[str, Any]:
        """Return every store's rows at a batch, the last one if none is named."""
        from headgate.spark_jobs.twin_state import read_stores

        spark = self.query.writer._spark
        return {"stores": read_stores(spark, command["checkpoint"], command["batch"], _MOST_KEYS)}

    def _session(self) -> Any:
        from pyspark.sql import SparkSession

        from headgate.spark_jobs.capture_query import settings_in

        own = {
            "spark.python.daemon.module": "headgate.spark_jobs.guard_effects",
            f"spark.executorEnv.{SCRATCH}": str(self.scratch),
            # Two tasks share it: so much for each Python worker.
            "spark.executor.pyspark.memory": "4g",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.streaming.numRecentProgressUpdates": "100",
            # Else the reader drops rows before a filter counts them.
            "spark.sql.json.filterPushdown.enabled": "false",
            # Compiling a plan's code takes longer than a few hundred rows do.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            **({"spark.jars": self.jars} if self.jars else {}),
        }
        builder = SparkSession.builder.master("local[2]").appName("headgate-twin")
        for key, value in (settings_in(self.scratch) | own).items():
            builder = builder.config(key, value)
        return builder.getOrCreate()


def _is_idle(query: Any) -> bool:
    """Whether the newest batches had no rows, so that nothing is left to take."""
    last = query.lastProgress()
    if last is None or last.numInputRows():
        return False
    newest = list(query.recentProgress())[-_EMPTY_BATCHES:]
    return len(newest) == _EMPTY_BATCHES and not any(p.numInputRows() for p in newest)


def _empty_catalog(spark: Any) -> None:
    """Drop the tables and views that an earlier call made: CREATE TABLE would find its own."""
    from headgate.spark_jobs.spark_reflection import elements

    state = spark._jsparkSession.sessionState()
    catalog, manager = state.catalog(), state.catalogManager()
    manager.setCurrentCatalog("spark_catalog")
    catalog.setCurrentDatabase("default")
    for database in elements(catalog.listDatabases()):
        if str(database) != "default":
            catalog.dropDatabase(database, True, True)
    for table in elements(catalog.listTables("default")):
        catalog.dropTable(table, True, False)
    for view in elements(
        spark._jsparkSession.sharedState().globalTempViewManager().listViewNames("*")
    ):
        catalog.dropGlobalTempView(view)


def _about(source: Any) -> dict[str, Any]:
    return {
        "folder": source.folder.name,
        "kind": source.kind,
        "location": source.location,
        "is_streaming": source.is_streaming,
        "is_named": source.name is not None,
    }


def _leaves(df: Any) -> Iterator[dict[str, Any]]:
    """Yield the folder, the schema and the columns' ids of each source in the analysed plan."""
    from headgate.spark_jobs.canonical_plan import leaf_nodes, source_folder
    from headgate.spark_jobs.spark_reflection import elements

    for leaf in leaf_nodes(df._jdf.queryExecution().analyzed()):
        folder = source_folder(leaf)
        if folder is None:
            continue
        yield {
            "folder": Path(folder).name,
            "schema": json.loads(leaf.schema().json()),
            "ids": {
                f"{a.exprId().id()} {a.exprId().jvmId().toString()}": str(a.name())
                for a in elements(leaf.output())
            },
        }


def _list_tables(df: Any) -> None:
    """Let tables see their rows: their files were listed before any was written."""
    from headgate.spark_jobs.canonical_plan import leaf_nodes
    from headgate.spark_jobs.spark_reflection import kind_of

    for leaf in leaf_nodes(df._jdf.queryExecution().analyzed()):
        if kind_of(leaf) == "LogicalRelation":
            leaf.relation().location().refresh()


def _mode(writer: Any) -> str:
    from headgate.spark_jobs.spark_reflection import field

    return str(field(writer._jwrite, "outputMode").toString())


def _error(error: Any) -> dict[str, Any]:
    found = stop_cause(error)
    return {
        "class": found.error_class,
        "condition": found.condition,
        "message": found.message,
        "is_around": found.is_around,
    }


def plain(value: Any) -> Any:
    """Return a value of a row as JSON: a struct as a list, doubles to nine digits."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value:.9g}")
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {"map": sorted(([plain(k), plain(v)] for k, v in value.items()), key=repr)}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    return str(value)


if __name__ == "__main__":
    main()
