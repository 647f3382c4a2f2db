"""Record what Spark prints of the same queries in every form (run this file).

Writes `SPARKVERSION/QUERY/FORM.txt` beside this file. `df_*` are of a query before its start,
`query_*` of one that ran a batch, `batch_*` of the DataFrame that foreachBatch gets, and
`ui_*` the description of a plan as the UI and the event log keep it, one per
`spark.sql.ui.explainMode`.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
import time
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

HERE = Path(__file__).parent
MODES = ("simple", "extended", "codegen", "cost", "formatted")


def session(folder: Path) -> SparkSession:
    return (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "700m")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        .getOrCreate()
    )


def queries(spark: SparkSession, folder: Path) -> dict[str, tuple[DataFrame, str]]:
    """Return each query by name with its output mode."""
    (folder / "in").mkdir()
    (folder / "in" / "a.json").write_text('{"k":"a","v":1,"ts":"2024-01-01T00:00:00Z"}\n' * 3)
    schema = "k string, v bigint, ts timestamp"
    events = spark.readStream.schema(schema).json(str(folder / "in"))
    names = spark.createDataFrame([("a", "Ada"), ("b", "Bob")], "k string, name string")
    wide = [(F.col("v") + n).alias(f"v{n}") for n in range(40)]
    timed = events.withWatermark("ts", "10 seconds")
    other = (
        spark.readStream.schema("k2 string, w bigint, ts2 timestamp")
        .json(str(folder / "in"))
        .withWatermark("ts2", "20 seconds")
    )
    few = names.where("k < 'b'").agg(F.max("name").alias("m"))
    few.createOrReplaceTempView("few")
    events.createOrReplaceTempView("events")
    return {
        "stateless": (events.where("v > 0").select("k", (F.col("v") * 2).alias("w")), "append"),
        "static_join": (events.join(names, "k", "left").where("name is not null"), "append"),
        "window": (
            timed.groupBy(F.window("ts", "1 minute", "30 seconds"), "k").agg(
                F.sum("v").alias("total"), F.expr("count(v) FILTER (WHERE v > 1)").alias("big")
            ),
            "update",
        ),
        "stream_join": (
            timed.join(other, F.expr("k = k2 AND ts2 BETWEEN ts AND ts + INTERVAL 1 MINUTE")),
            "append",
        ),
        "wide": (events.select("k", *wide), "append"),
        "subquery": (spark.sql("select k, v from events where k < (select m from few)"), "append"),
        "user_shuffle": (events.repartition(3, "k").select("k", "v"), "append"),
        "union_dedup": (
            timed.select("k", "ts")
            .union(other.select("k2", "ts2"))
            .dropDuplicatesWithinWatermark(["k"]),
            "append",
        ),
    }


def printed(frame: DataFrame, mode: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        frame.explain(mode=mode)
    return out.getvalue()


def all_printed(frame: DataFrame) -> dict[str, str]:
    """Return what each mode prints; an unstarted stream has no `codegen`, Spark refuses it."""
    out = {}
    for mode in MODES:
        with contextlib.suppress(AnalysisException):
            out[f"df_{mode}"] = printed(frame, mode)
    return out


def run(frame: DataFrame, mode: str, folder: Path, name: str) -> dict[str, str]:
    """Return what the query prints after its first batch, and what its batch's plan prints."""
    out: dict[str, str] = {}

    def keep(batch: DataFrame, number: int) -> None:
        batch.collect()
        if not out:
            for form in ("formatted", "simple", "codegen", "cost"):
                out[f"batch_{form}"] = printed(batch, form)

    query = (
        frame.writeStream.foreachBatch(keep)
        .outputMode(mode)
        .option("checkpointLocation", str(folder / f"ck-{name}"))
        .queryName(name)
        .start()
    )
    query.processAllAvailable()
    out |= explained(query)
    query.stop()
    return out


def explained(query: StreamingQuery) -> dict[str, str]:
    java = query._jsq  # type: ignore[attr-defined]
    out = {
        f"query_{n}": java.explainInternal(e) for n, e in (("simple", False), ("extended", True))
    }
    jvm = query._jvm if hasattr(query, "_jvm") else SparkSession.active()._jvm
    executed = java.streamingQuery().lastExecution() if hasattr(java, "streamingQuery") else None
    if executed is None:
        return out
    for mode in MODES:
        made = jvm.org.apache.spark.sql.execution.ExplainMode.fromString(mode)
        out[f"ui_{mode}"] = executed.explainString(made)
    return out


def other_triggers(spark: SparkSession, folder: Path) -> dict[str, dict[str, str]]:
    """Continuous and real-time queries, which run until they are stopped."""
    out: dict[str, dict[str, str]] = {}
    rates = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
    shown = rates.where("value % 2 = 0").select((F.col("value") * 3).alias("x"))
    triggers: dict[str, dict[str, str]] = {
        "continuous": {"continuous": "1 second"},
        "micro_batch": {"processingTime": "1 second"},
    }
    for name, trigger in triggers.items():
        query = (
            shown.writeStream.format("noop" if name == "continuous" else "console")
            .trigger(**trigger)  # type: ignore[arg-type]
            .option("checkpointLocation", str(folder / f"ck-{name}"))
            .start()
        )
        time.sleep(6)
        out[f"rate_{name}"] = {
            f"query_{n}": query._jsq.explainInternal(e)  # type: ignore[attr-defined]
            for n, e in (("simple", False), ("extended", True))
        }
        query.stop()
    return out


def write(name: str, texts: dict[str, str], version: str, folder: Path) -> None:
    place = HERE / version / name
    place.mkdir(parents=True, exist_ok=True)
    for form, text in texts.items():
        kept = text.replace(f"file:{folder}", "file:/data").replace(str(folder), "/data")
        (place / f"{form}.txt").write_text(kept)


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    spark = session(folder)
    spark.sparkContext.setLogLevel("ERROR")
    try:
        for name, (frame, mode) in queries(spark, folder).items():
            texts = all_printed(frame)
            try:
                texts |= run(frame, mode, folder, name)
            except Exception as error:
                print(name, error, file=sys.stderr)
            write(name, texts, spark.version, folder)
        for name, texts in other_triggers(spark, folder).items():
            write(name, texts, spark.version, folder)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
