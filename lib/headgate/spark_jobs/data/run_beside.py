"""Run a new version of a query on a copy of its checkpoint, in the batches of the running version.

    run_beside.py --entry-point MODULE:FUNCTION --checkpoint COPY --ends FILE --topic SHADOW \\
        --sink-topic TOPIC

Each batch ends where a batch of the running version ended, so that both drop the same late records.
FILE is JSON: a list with the end of each batch, {topic: {partition: offset}}. Trigger,
checkpointLocation and topic of the query are replaced, nothing else. A program that was killed
continues in the copy: the list that it gets next must begin after the last batch that is logged
there. The result's facts are those of `run_bounded`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.bound_kafka import BoundsFile, BoundSources
from headgate.spark_jobs.data.report import Ended, Report, run
from headgate.spark_jobs.data.run_bounded import BoundedQuery, build_query
from headgate.spark_jobs.spark_reflection import case_kept, field


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description="Run a new version in given batches.")
    parser.add_argument("--entry-point", required=True, metavar="MODULE:FUNCTION")
    parser.add_argument("--query", help="Name of the query, if the function starts several.")
    parser.add_argument("--checkpoint", required=True, help="Path of the copied checkpoint.")
    parser.add_argument("--query-id", help="Query id that the checkpoint must have.")
    parser.add_argument(
        "--ends", required=True, type=Path, help="JSON file with the end offsets of each batch."
    )
    parser.add_argument("--topic", required=True, help="Topic to write to.")
    parser.add_argument("--sink-topic", help="Topic that the query itself must write to.")
    run(parser, work)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Build the query, replace its topic, and let it do the batches."""
    began = time.monotonic()
    from headgate.spark_jobs.own_process import check_importable

    check_importable(given.entry_point)
    from pyspark.sql import SparkSession

    ends = json.loads(given.ends.read_text(encoding="utf-8"))
    spark = SparkSession.builder.appName("headgate-beside").getOrCreate()
    unstarted = build_query(spark, given)
    check_sink(unstarted, given.entry_point, given.sink_topic)
    sources = BoundSources(spark, unstarted.writer._df, None, ends)
    java = unstarted.writer._jwrite
    java.option("checkpointLocation", given.checkpoint)
    java.option("topic", given.topic)
    java.trigger(spark._jvm.org.apache.spark.sql.streaming.Trigger.AvailableNow())
    # The ends of earlier programs are in the copy's log: this file is of this program only.
    bounds = given.ends.with_name(f"{given.ends.name}.bounds")
    bounds.unlink(missing_ok=True)
    query = BoundedQuery(java.start(), sources, BoundsFile(bounds), report, began)
    return query.run(None, given.query_id)


def check_sink(unstarted: Any, entry_point: str, topic: str | None) -> None:
    """Raise CaptureError unless the query writes to a topic, and to this one if it is known."""
    java = unstarted.writer._jwrite
    kind = "table" if unstarted.table else str(field(java, "source") or "parquet").lower()
    if kind != "kafka":
        raise CaptureError(
            f"{entry_point} writes to {kind}. An online upgrade needs a Kafka topic as the "
            "sink. Use offline-upgrade"
        )
    options = case_kept(field(java, "extraOptions"))
    own = next((v for k, v in options.items() if k.lower() == "topic"), None)
    if topic is not None and own is not None and own != topic:
        raise CaptureError(
            f"{entry_point} writes to topic {own}, but the running version writes to {topic}. "
            "Use offline-upgrade to change the topic"
        )


if __name__ == "__main__":
    main()
