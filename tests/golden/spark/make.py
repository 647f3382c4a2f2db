"""Record the golden folders of Spark 4.2 anew: `python tests/golden/spark/make.py [QUERY ...]`.

Each query is built, recorded unstarted (`4.2.0/QUERY/capture`, as `headgate capture` would), run
against real sources and a real broker, and recorded again (`4.2.0/QUERY/run`: plans of its last
batch, its progress, its lines of the event log, the checkpoint without state). Needs the jars of
`make setup` and a JDK. What can't run is recorded unstarted alone, and said.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "making"))

import pyspark  # noqa: E402
import rows  # noqa: E402
import sources_and_sinks  # noqa: E402
import state  # noqa: E402
from confluent_kafka import Producer  # noqa: E402
from confluent_kafka.admin import AdminClient, NewTopic  # noqa: E402
from pyspark import cloudpickle  # noqa: E402
from query import QUERIES, Place, Query  # noqa: E402
from recording import Texts, batch, checkpoint, events, unstarted  # noqa: E402

from headgate.gateway.kafka_broker.local_broker import running_broker  # noqa: E402
from headgate.gateway.process.jars import spark_jars  # noqa: E402
from headgate.spark_jobs.block_start import Unstarted  # noqa: E402
from headgate.spark_jobs.user_functions import UsedFunctions, watch_functions  # noqa: E402

INTO = HERE / "4.2.0"
# A fixed folder, so that a plan recorded anew differs in nothing that depends on where it was.
SCRATCH = Path("/tmp/headgate-golden")
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.debug.maxToStringFields": "1000000",
    "spark.sql.maxMetadataStringLength": "1000000",
    # The last batch shall be one with data.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
_LAUNCH = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
    "spark.driver.extraClassPath": str(SCRATCH / "classes"),
    "spark.local.dir": str(SCRATCH / "local"),
    "spark.sql.warehouse.dir": str(SCRATCH / "warehouse"),
    "spark.log.level": "OFF",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": str(SCRATCH / "events"),
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}


def main() -> None:
    """Record all queries, or those that are named."""
    wanted = sys.argv[1:] or list(QUERIES)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    for folder in ("events", "classes"):
        (SCRATCH / folder).mkdir(parents=True)
    _compile()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for module in (rows, sources_and_sinks, state):
        cloudpickle.register_pickle_by_value(module)
    with running_broker(SCRATCH / "kafka") as broker, _session() as spark:
        used = watch_functions()
        texts = Texts(SCRATCH, broker)
        ran = {name: _record(QUERIES[name], spark, broker, used, texts) for name in wanted}
        log = next((SCRATCH / "events").iterdir())
        time.sleep(2)
        for name, run in ran.items():
            if run:
                events(log, run, INTO / name / "run", texts)


def _compile() -> None:
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    command = ["javac", "-nowarn", "-cp", str(jars), "-d", str(SCRATCH / "classes")]
    subprocess.run([*command, str(HERE / "making" / "Typed.java")], check=True)


@contextmanager
def _session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("golden")
    for key, value in {**_LAUNCH, "spark.jars": ",".join(map(str, spark_jars()))}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def _record(
    query: Query, session: Any, broker: str, used: UsedFunctions, texts: Texts
) -> str | None:
    """Record one query; return the id of its run, None where it did not run."""
    begun = time.monotonic()
    spark = session.newSession()
    for key, value in {**SETTINGS, **query.settings}.items():
        spark.conf.set(key, value)
    place = Place(spark, SCRATCH / query.name, broker)
    into = INTO / query.name
    shutil.rmtree(into, ignore_errors=True)
    run = None
    try:
        _fill(query.topics, broker)
        made = _writer(query, place)
        unstarted(made, used, into / "capture", place.folder / "scratch", texts)
        settings = json.dumps(query.settings, indent=1)
        texts.write(into / "capture" / "conf.json", settings)
        if query.runs:
            run = _run(query, made, place, texts)
            texts.write(into / "run" / "conf.json", settings)
            shutil.copy(into / "capture" / "capture.json", into / "run" / "capture.json")
    except Exception as error:
        print("FAILED", query.name, str(error).split("\n")[0][:300])
        if not hasattr(error, "java_exception"):
            traceback.print_exc()
    print(f"{query.name}: {time.monotonic() - begun:.1f} s", flush=True)
    return run


def _fill(topics: tuple[str, ...], broker: str) -> None:
    if not topics:
        return
    admin, producer = (
        AdminClient({"bootstrap.servers": broker}),
        Producer({"bootstrap.servers": broker}),
    )
    known = admin.list_topics(timeout=10).topics
    new = [NewTopic(t, 1, 1) for t in (*topics, "orders-out") if t not in known]
    for done in (admin.create_topics(new) if new else {}).values():
        done.result(10)
    for topic in topics:
        for key in "ab":
            producer.produce(topic, key=key, value=json.dumps({"k": key, "v": 1}))
    producer.flush(20)


def _writer(query: Query, place: Place) -> Unstarted:
    made = query.build(place)
    writer, table = made if isinstance(made, tuple) else (made, None)
    if hasattr(writer, "writeStream"):
        writer = writer.writeStream.foreachBatch(sources_and_sinks.save_batch)
    writer = writer.outputMode(query.mode).trigger(**query.trigger)
    return Unstarted(writer, table)


def _run(query: Query, made: Unstarted, place: Place, texts: Texts) -> str:
    folder = place.folder / "checkpoint"
    writer = made.writer.option("checkpointLocation", str(folder))
    started = writer.toTable(made.table) if made.table else writer.start()
    try:
        if {"availableNow", "once"} & query.trigger.keys():
            started.awaitTermination(120)
        else:
            _wait(started, "continuous" in query.trigger)
        if error := started.exception():
            raise error
        into = INTO / query.name / "run"
        batch(place.spark, started, into, query.codegen, texts)
    finally:
        started.stop()
    checkpoint(folder, into / "checkpoint", texts)
    return str(started.runId)


def _wait(started: Any, continuous: bool) -> None:
    """Wait for two batches, of which the last one has data where that is counted."""
    until = time.monotonic() + 40
    while time.monotonic() < until and not started.exception():
        report = started.lastProgress
        if report and report["batchId"] >= 1 and (report["numInputRows"] or continuous):
            return
        time.sleep(0.2)


if __name__ == "__main__":
    main()
