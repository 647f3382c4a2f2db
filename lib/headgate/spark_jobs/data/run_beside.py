"""Run a new version of a query on a copy of its checkpoint, in the batches of the running version.

    run_beside.py --entry-point MODULE:FUNCTION --checkpoint COPY --ends FILE --topic SHADOW \\
        --sink-topic TOPIC

Each batch ends where the running version's batch of this number ended. A batch that ends where the
one before it ended is a no-data batch: it emits and removes what the watermark has closed, so the
copy has one at the same number, and no other one. FILE is JSON, {"first": NUMBER, "ends": [{topic:
{partition: offset}}, ...]}: where the batches from that number on end. Trigger, checkpointLocation
and topic of the query are replaced, nothing else. A program that was killed continues after the
last batch in the copy's log. The result's facts are those of `run_bounded`, `batches`, `records`
and `seconds` of all starts of the query.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.batch_log import batches, uncommitted, write_empty_batch
from headgate.spark_jobs.data.bound_kafka import BoundsFile, BoundSources, Offsets
from headgate.spark_jobs.data.kept_counts import BatchCounts
from headgate.spark_jobs.data.report import Ended, Report, run
from headgate.spark_jobs.data.run_bounded import BoundedQuery, build_query
from headgate.spark_jobs.spark_reflection import case_kept, field

_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
_SUMS = ("batches", "records", "seconds")


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(
        description="Run a new version with the same batches as the running version."
    )
    parser.add_argument("--entry-point", required=True, metavar="MODULE:FUNCTION")
    parser.add_argument("--query", help="Name of the query, if the function starts several.")
    parser.add_argument("--checkpoint", required=True, help="Path of the copied checkpoint.")
    parser.add_argument("--query-id", help="Query id that the checkpoint must have.")
    parser.add_argument(
        "--ends", required=True, type=Path, help="JSON file with the end offsets of each batch."
    )
    parser.add_argument(
        "--topic", required=True, help="Topic to write to instead of the query's own topic."
    )
    parser.add_argument(
        "--sink-topic",
        help="Topic that the running version writes to. The program fails if the query's code has "
        "another topic.",
    )
    run(parser, work)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Build the query, replace its topic, and let it do the batches."""
    from headgate.spark_jobs.own_process import check_importable

    check_importable(given.entry_point)
    from pyspark.sql import SparkSession

    wanted = json.loads(given.ends.read_text(encoding="utf-8"))
    first, ends = wanted["first"], wanted["ends"]
    spark = SparkSession.builder.appName("headgate-beside").getOrCreate()
    unstarted = build_query(spark, given)
    check_sink(unstarted, given.entry_point, given.sink_topic)
    sources = BoundSources(spark, unstarted.writer._df, None, ends)
    java = unstarted.writer._jwrite
    java.option("checkpointLocation", given.checkpoint)
    java.option("topic", given.topic)
    java.trigger(spark._jvm.org.apache.spark.sql.streaming.Trigger.AvailableNow())
    copy, sums, counts = Path(given.checkpoint), dict.fromkeys(_SUMS, 0), BatchCounts()
    ended = Ended("done", sums)
    while ended.outcome == "done":
        segment = next_segment(copy, first, ends)
        if segment is None:
            break
        began, at = time.monotonic(), _position(copy)
        # Spark reads the setting when a query starts.
        unstarted.writer._df.sparkSession.conf.set(_NO_DATA, str(segment.has_no_data).lower())
        sources.ends = segment.ends
        # The ends of earlier starts are in the copy's log: this file is of this start only.
        bounds = given.ends.with_name(f"{given.ends.name}.bounds")
        bounds.unlink(missing_ok=True)
        file = BoundsFile(bounds)
        file.counts = counts
        ended = BesideQuery(java.start(), sources, file, report, began).run(None, given.query_id)
        sums = {name: sums[name] + ended.facts.get(name, 0) for name in _SUMS}
        ended = Ended(ended.outcome, {**ended.facts, **sums}, ended.error)
        if ended.outcome == "done" and _position(copy) == at:
            raise CaptureError(
                f"{given.entry_point} ran no batch after batch {at[0]} of checkpoint copy {copy}. "
                "See Spark's log"
            )
    return ended


@dataclass(frozen=True, slots=True)
class Segment:
    """Batches for one start of the query; `has_no_data` says that the last one is a no-data one."""

    ends: Sequence[Offsets]
    has_no_data: bool


def next_segment(copy: Path, first: int, ends: Sequence[Offsets]) -> Segment | None:
    """Return what the query does at its next start, None if all batches are done.

    AvailableNow runs a no-data batch at its end if no-data batches are enabled, so all up to the
    last no-data batch are for a start of their own. A no-data batch right after a start is never
    run by Spark: it is logged here, and Spark runs what is logged without a commit.
    """
    at, is_open = _position(copy)
    if at < first:
        raise CaptureError(
            f"the checkpoint copy {copy} ends at batch {at}, but the run needs batch {first}: "
            "files of the copy were probably deleted. Undo the run, then plan again"
        )
    here, *left = ends[at - first :] or [ends[-1]]
    if left and not is_open and left[0] == here:
        if write_empty_batch(copy) is None:
            raise CaptureError(
                f"the checkpoint copy {copy} has no committed batch. Undo the run, then plan again"
            )
        is_open = True
        left = left[1:]
    if not left:
        # A repeated end: nothing follows the batch that is logged without a commit.
        return Segment([here], has_no_data=False) if is_open else None
    pairs = zip((here, *left), left, strict=False)
    count = max((n for n, (a, b) in enumerate(pairs, 1) if a == b), default=0)
    return Segment(left[:count], has_no_data=True) if count else Segment(left, has_no_data=False)


def _position(copy: Path) -> tuple[int, bool]:
    """Return the last batch in the offset log, and whether it isn't committed."""
    return max(batches(copy, "offsets"), default=-1), bool(uncommitted(copy))


class BesideQuery(BoundedQuery):
    """As a bounded query; a stop may interrupt a batch, which is then run again as it was logged.

    Without further data Spark would end with a no-data batch that the running version didn't run.
    """

    def _stop_if_due(self, limit: float | None) -> None:
        if self._why is None and self._report.must_stop:
            self._why = "asked"
            self._query.stop()


def check_sink(unstarted: Any, entry_point: str, topic: str | None) -> None:
    """Raise CaptureError unless the query writes to a topic, and to this one if it is known."""
    java = unstarted.writer._jwrite
    kind = "table" if unstarted.table else str(field(java, "source") or "parquet").lower()
    if kind != "kafka":
        raise CaptureError(
            f"{entry_point} writes to {kind}. An online upgrade needs a Kafka topic as the "
            "sink. Use `headgate plan offline-upgrade`"
        )
    options = case_kept(field(java, "extraOptions"))
    own = next((v for k, v in options.items() if k.lower() == "topic"), None)
    if topic is not None and own is not None and own != topic:
        raise CaptureError(
            f"{entry_point} writes to topic {own}, but the running version writes to {topic}. "
            "Use `headgate plan offline-upgrade` to change the topic"
        )


if __name__ == "__main__":
    main()
