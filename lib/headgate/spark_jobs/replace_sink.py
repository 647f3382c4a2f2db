"""Replace a query's sink by one of our own, of the nearest kind that writes nothing.

| the query's sink | in a rehearsal |
|---|---|
| json, csv, parquet, orc, ... | the same, into the scratch folder: Spark's rules for it hold |
| memory | the same: it is memory of this process |
| kafka | rows are collected, after Kafka's own check of the columns |
| console, noop, foreach, foreachBatch, tables, others | rows are collected; no function is called |
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.model.sinks import sink_format
from headgate.spark_jobs.block_start import Unstarted
from headgate.spark_jobs.canonical_plan import stateful_operators
from headgate.spark_jobs.spark_reflection import case_kept, companion, field, kind_of

_KAFKA_WRITER = "org.apache.spark.sql.kafka010.KafkaWriter"
_ASYNC = "asyncProgressTrackingEnabled"
_MOST_ROWS = 100_000


class ReplacedSink:
    """A query's writer with another sink; `words` says which. Rows go to `folder`.

    `error` holds what failed while rows were collected: PySpark loses its cause on the way.
    """

    def __init__(self, query: Unstarted, folder: Path, kind: str | None = None) -> None:
        """`kind` is what the query's own sink was, where another has been put there already."""
        self.writer, self.folder = query.writer, folder
        self.error: Any = None
        self._java = query.writer._jwrite
        self._options = {
            k.lower(): v for k, v in case_kept(field(self._java, "extraOptions")).items()
        }
        self.kind = kind or (
            "table" if query.table else str(field(self._java, "source") or "parquet").lower()
        )
        self._put = self._choose()
        self.words = self._put()
        self._track_progress()

    def check(self) -> None:
        """Raise what the sink itself refuses at a start, where ours would not."""
        if self.kind != "kafka":
            return
        jvm = self.writer._spark._jvm
        topic = jvm.scala.Option.apply(self._options.get("topic"))
        columns = self.writer._df._jdf.queryExecution().analyzed().output()
        companion(jvm, _KAFKA_WRITER).validateQuery(columns, topic)

    def _track_progress(self) -> None:
        """Have no asynchronous progress tracking where Spark accepts it for the query's own sink.

        It doesn't accept our sink, nor the triggers that are used here.
        """
        is_async = self._options.get(_ASYNC.lower(), "").lower() == "true"
        if self.kind not in ("kafka", "noop") or not is_async:
            return
        plan = self.writer._df._jdf.queryExecution().analyzed()
        if not any(stateful_operators(plan)):
            self._java.option(_ASYNC, "false")
        # Else it refuses the state; not our sink.
        self._java.option("_asyncProgressTrackingOverrideSinkSupportCheck", "true")

    def rows(self, batch: int, is_only: bool) -> list[str] | None:
        """Return the rows of a batch as JSON, None if they are unknown.

        A file sink's and a memory sink's rows don't name their batch: all, if it `is_only` one.
        """
        into = self.folder / f"batch={batch}"
        if self._put == self._collect:
            return _lines(into) if into.is_dir() else []
        if not is_only or self._put == self._discard:
            return None
        frame = self._files() if self._put == self._to_scratch else self._memory()
        if frame is None:
            return []
        frame.toJSON().write().text(str(into))
        return _lines(into)

    def every_row(self) -> list[str]:
        """Return the rows of all batches as JSON, in the order of the batches."""
        if self._put != self._collect:
            return self.rows(0, is_only=True) or []
        numbers = sorted(int(p.name.partition("=")[2]) for p in self.folder.glob("batch=*"))
        return [row for number in numbers for row in self.rows(number, is_only=False) or []]

    def _choose(self) -> Callable[[], str]:
        if "Continuous" in kind_of(field(self._java, "trigger")):
            return self._discard
        if sink_format(self.kind).is_files:
            return self._to_scratch
        return self._in_memory if self.kind == "memory" else self._collect

    def _to_scratch(self) -> str:
        self._java.option("path", str(self.folder / "files"))
        return f"{self.kind} files in the scratch folder"

    def _in_memory(self) -> str:
        return "memory sink, unchanged"

    def _discard(self) -> str:
        self.writer.format("noop")
        return f"rows of the continuous query were discarded (noop sink instead of {self.kind})"

    def _collect(self) -> str:
        name = self.kind
        self.writer.foreachBatch(self._keep)
        if sink_format(name).calls_function:
            return f"rows were collected, but the function of {name} was not called"
        return f"rows were collected instead of written to {name}"

    def _keep(self, df: Any, batch: int) -> None:
        try:
            into = self.folder / f"batch={batch}"
            df._jdf.toJSON().write().mode("overwrite").text(str(into))
        except Exception as error:
            self.error = error
            raise

    def _files(self) -> Any:
        root = self.folder / "files"
        found = [str(f) for f in root.rglob("part-*") if "_spark_metadata" not in f.parts]
        if not found:
            return None
        spark = self.writer._spark
        reader = spark._jsparkSession.read().format(self.kind)
        reader = reader.options(_java_map(spark, self._options))
        reader = reader.schema(self.writer._df._jdf.schema()).option("basePath", str(root))
        return reader.load(spark._jvm.PythonUtils.toSeq(found))

    def _memory(self) -> Any:
        return self.writer._spark._jsparkSession.table(str(self._options["queryname"]))


def _java_map(spark: Any, options: dict[str, str]) -> Any:
    found = spark._jvm.java.util.HashMap()
    for name, value in options.items():
        if name not in ("path", "checkpointlocation"):
            found.put(name, str(value))
    return found


def _lines(folder: Path) -> list[str]:
    found: list[str] = []
    for file in sorted(folder.glob("part-*")):
        with file.open(encoding="utf-8") as stream:
            for line in stream:
                found.append(line.rstrip("\n"))
                if len(found) >= _MOST_ROWS:
                    return found
    return found


def columns(writer: Any) -> list[str]:
    """Return the names of the columns that a query writes."""
    return [str(f["name"]) for f in json.loads(writer._df._jdf.schema().json())["fields"]]
