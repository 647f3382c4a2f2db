"""Make the event logs of this folder with a real Spark.

    python tests/golden/event_logs/make.py

One application runs three queries: `orders` (restarted with another plan, and once more with a
batch that fails), `copies`, and one without a name; beside them a batch job. What Spark wrote is
then made fit to keep: machine names and paths are replaced, of the events that Headgate skips only
the first two of a kind stay. Spark's own codecs pack the result in every way that Spark can. The
explain text and the plan's JSON of each query, as its session printed them, stand beside the logs.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

HERE = Path(__file__).parent
CODECS = ("zstd", "lz4", "snappy")
_KEPT_WHOLE = (
    "SQLExecution",
    "SQLAdaptive",
    "StreamingQuery",
    "Application",
    "LogStart",
    "Environ",
)


def session(folder: Path) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": "/data/warehouse",
        "spark.sql.session.timeZone": "UTC",
        "spark.hadoop.fs.s3a.secret.key": "hunter2",
        "spark.myapp.endpoint": "https://me:hunter2@example.org/?token=hunter2",
    }
    builder = SparkSession.builder.master("local[1]").appName("shop <script> ✂")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def source(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema("city string, price int, at timestamp").json(str(folder))


def feed(folder: Path, number: int, **changes: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"city": c, "price": p, "at": f"2026-01-01T00:{number:02d}:{p:02d}Z", **changes}
        for c, p in (("Oslo", 3), ("Rome", 5))
    ]
    (folder / f"{number}.json").write_text("\n".join(map(json.dumps, rows)) + "\n")


def counted(rows: DataFrame) -> DataFrame:
    window = F.window("at", "10 minutes")
    return rows.withWatermark("at", "5 minutes").groupBy(window, "city").count()


def summed(rows: DataFrame) -> DataFrame:
    made = rows.filter("price > 1").withWatermark("at", "5 minutes")
    made = made.withColumn("city", F.expr("if(price = 13, raise_error('unlucky'), city)"))
    return made.groupBy(F.window("at", "10 minutes"), "city").agg(F.count("*").alias("count"))


def run(frame: DataFrame, name: str | None, folder: Path, then: list[Any]) -> Any:
    writer = frame.writeStream.format("noop").outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = (writer.queryName(name) if name else writer).start()
    try:
        query.processAllAvailable()
        for step in then:
            step()
            query.processAllAvailable()
    except Exception as error:
        print("as meant:", str(error)[:100])
        return None
    found = printed(frame, query)
    query.stop()
    return found


def printed(frame: DataFrame, query: Any) -> dict[str, Any]:
    """Return what the session prints of a query: before its start, and of its newest batch."""
    jvm = frame.sparkSession._jvm
    mode = jvm.org.apache.spark.sql.execution.ExplainMode.fromString("extended")
    unstarted = frame._jdf.queryExecution()
    batch = query._jsq.streamingQuery().lastExecution()
    return {
        "unstarted.txt": unstarted.explainString(mode),
        "logical.json": unstarted.analyzed().toJSON(),
        "batch.txt": batch.explainString(mode),
        "said.json": json.dumps(
            {"id": query.id, "progress": [json.loads(p.json) for p in query.recentProgress]},
            indent=1,
        ),
    }


def run_all(spark: SparkSession, work: Path) -> tuple[bytes, dict[str, Any]]:
    """Run the queries; return the log as it was while the last one ran, and what was explained."""
    orders, copies = work / "orders", work / "copies"
    feed(orders / "in", 1)
    explained = {
        "orders_1": run(
            counted(source(spark, orders / "in")),
            "orders",
            orders,
            [lambda: feed(orders / "in", 2), lambda: feed(orders / "in", 30)],
        )
    }
    feed(orders / "in", 31)
    changed = summed(source(spark, orders / "in"))
    explained["orders_2"] = run(changed, "orders", orders, [lambda: feed(orders / "in", 32)])
    feed(orders / "in", 33, price=13)
    run(summed(source(spark, orders / "in")), "orders", orders, [])
    spark.range(5).groupBy((F.col("id") % 2).alias("k")).count().collect()
    feed(copies / "in", 1)
    both = source(spark, copies / "in").select("city", "price")
    explained["copies"] = run(both, "copies\n<b>🧵", copies, [lambda: feed(copies / "in", 2)])
    running = b""

    def remember() -> None:
        nonlocal running
        running = next((work / "log").glob("*.inprogress")).read_bytes()
        feed(work / "nameless", 2)

    feed(work / "nameless", 1)
    nameless = source(spark, work / "nameless").dropDuplicates(["city"])
    explained["nameless"] = run(nameless, None, work / "third", [remember])
    return running, explained


def fit(data: bytes, work: Path) -> list[str]:
    """Return a log's lines without this machine's names and most events that are skipped."""
    seen: Counter[str] = Counter()
    out = []
    for line in data.decode().splitlines(keepends=True):
        try:
            event = json.loads(line)
        except ValueError:
            out.append(neutral(line, work))
            continue
        seen[event["Event"]] += 1
        if seen[event["Event"]] > 2 and not any(w in event["Event"] for w in _KEPT_WHOLE):
            continue
        for key in (
            "Hadoop Properties",
            "System Properties",
            "Metrics Properties",
            "Classpath Entries",
        ):
            if key in event:
                event[key] = {}
        if "Spark Properties" in event:
            kept = event["Spark Properties"]
            for key in [k for k in kept if "extraJava" in k or "jars" in k or "pyFiles" in k]:
                del kept[key]
        out.append(
            neutral(json.dumps(event, separators=(",", ":"), ensure_ascii=False), work) + "\n"
        )
    return out


def neutral(text: str, work: Path) -> str:
    text = text.replace(work.as_posix(), "/data").replace(socket.gethostname(), "host")
    text = re.sub(r'"User":"[^"]*"', '"User":"me"', text)
    return re.sub(r"(/[\w.@-]+)+/(\w+\.py)", r"/app/\2", text)


def pack(
    spark: SparkSession, codec: str, parts: list[list[str]], target: Path, *, finish: bool
) -> None:
    """Write parts with one of Spark's codecs, flushed after each; not closed if not finished."""
    jvm = spark._jvm
    stream = jvm.java.io.FileOutputStream(str(target))
    made = jvm.org.apache.spark.io.CompressionCodec.createCodec(
        spark._jsc.sc().conf(), codec
    ).compressedContinuousOutputStream(stream)
    for part in parts:
        made.write("".join(part).encode())
        made.flush()
    if finish:
        made.close()


def main() -> None:
    work = Path(tempfile.mkdtemp(prefix="event-logs-")).resolve()
    (work / "log").mkdir()
    spark = session(work / "log")
    application = spark.sparkContext.applicationId
    running, explained = run_all(spark, work)
    spark.stop()
    finished = next((work / "log").iterdir()).read_bytes()
    spark = session(work / "log")
    for old in HERE.iterdir():
        if old.name != "make.py":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    whole, cut = fit(finished, work), fit(running, work)
    name = "local-1"
    text = "".join(whole).replace(application, name)
    lines = text.splitlines(keepends=True)
    (HERE / "plain").mkdir()
    (HERE / "plain" / name).write_text(text)
    (HERE / "running").mkdir()
    open_text = "".join(cut).replace(application, name)
    (HERE / "running" / f"{name}.inprogress").write_text(open_text)
    third = len(lines) // 3
    parts = [lines[:third], lines[third : 2 * third], lines[2 * third :]]
    for codec in CODECS:
        folder = HERE / codec
        folder.mkdir()
        pack(spark, codec, parts, folder / f"{name}.{codec}", finish=True)
        half = open_text.splitlines(keepends=True)
        pack(spark, codec, [half], HERE / "running" / f"{name}.{codec}.inprogress", finish=False)
        rolled = HERE / f"rolling_{codec}" / f"eventlog_v2_{name}"
        rolled.mkdir(parents=True)
        (rolled / f"appstatus_{name}").touch()
        for number, part in enumerate(parts, 1):
            pack(spark, codec, [part], rolled / f"events_{number}_{name}.{codec}", finish=True)
    compacted = HERE / "compacted" / f"eventlog_v2_{name}"
    compacted.mkdir(parents=True)
    (compacted / f"appstatus_{name}.inprogress").touch()
    kept = [x for p in parts[:2] for x in p if "SQLExecution" not in x]
    pack(spark, "zstd", [parts[0]], compacted / f"events_1_{name}.zstd", finish=True)
    pack(spark, "zstd", [kept], compacted / f"events_2_{name}.zstd.compact", finish=True)
    pack(spark, "zstd", [parts[2]], compacted / f"events_3_{name}.zstd", finish=False)
    for case, found in explained.items():
        folder = HERE / "explained" / case
        folder.mkdir(parents=True)
        for file, text in found.items():
            (folder / file).write_text(neutral(text, work).rstrip() + "\n")
    spark.stop()
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
