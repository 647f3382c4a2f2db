"""Run a streaming function as a stream over a range of records, with its result in a new target.

    replay_stream.py --entry-point MODULE:FUNCTION --offsets '{"orders": {"0": [120, 480]}}' \\
        --work /data/work --to parquet:/data/april

The query is the one that the function returns or starts, on a new checkpoint in `--work`. Its Kafka
sources read the given offsets and nothing else, in batches of at most `--max-records`. Each batch
ends in all partitions at the same record timestamp. With `--rate`, a batch of N records begins
N / RATE seconds after the one before it. The output mode stays the function's own, and
the sink is replaced. After the last batch the query runs a no-data batch, which emits what the
watermark has closed. A program that was killed continues with the same `--work`.

The result's facts are `read` (records), `written` (rows), `dropped` (rows that were late for the
watermark), `batches`, `uncounted` (batches whose counts were lost in a crash), `watermark` (at the
end, null without one), `state` (rows left in it), `mode` (output mode), `seconds` and
`startup_seconds`, which are among them.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.batch_log import batches, uncommitted, write_empty_batch
from headgate.spark_jobs.data.arrival_batches import KafkaTimes, batch_ends
from headgate.spark_jobs.data.bound_kafka import BoundsFile, BoundSources, Offsets
from headgate.spark_jobs.data.kept_counts import CountsByBatch, KeptFile
from headgate.spark_jobs.data.offset_ranges import OffsetRanges, read_ranges
from headgate.spark_jobs.data.report import Ended, Report, failure_of, run
from headgate.spark_jobs.data.run_beside import BesideQuery
from headgate.spark_jobs.data.stream_results import StreamResults, key_column
from headgate.spark_jobs.data.write_output import read_target
from headgate.spark_jobs.spark_reflection import case_kept, field

AT_MOST = 100_000
_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
# What says where a source begins, how much it takes at once, and in whose name.
_REPLACED = (
    *("subscribe", "subscribepattern", "startingtimestamp", "startingoffsetsbytimestamp"),
    *("startingoffsetsbytimestampstrategy", "maxoffsetspertrigger", "minoffsetspertrigger"),
    *("maxtriggerdelay", "kafka.group.id", "groupidprefix"),
)


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(
        description="Run a streaming query in micro-batches over a range of records."
    )
    add = parser.add_argument
    add("--entry-point", required=True, metavar="MODULE:FUNCTION")
    add("--query", help="Name of the query, if the function starts several.")
    add("--offsets", required=True, help="Offset ranges to process, as JSON or @FILE.")
    add("--work", required=True, type=Path, help="Folder for the checkpoint and the batches.")
    add(
        "--max-records",
        type=int,
        default=AT_MOST,
        help=f"Maximum number of records in a batch (default {AT_MOST}).",
    )
    add("--rate", type=int, help="Rate limit in records per second (default: none).")
    add("--to", required=True, help="Target: FORMAT:LOCATION, for example parquet:/data/april.")
    add("--columns", help="If --to is a table: its columns, as JSON.")
    add(
        "--run",
        help="If --to is a topic: run id, written to the header headgate.run of each record.",
    )
    add(
        "--time-column",
        help="Column with the event time or window of a result. For a field of JSON in the column "
        "value: value.FIELD.",
    )
    add(
        "--from",
        dest="start",
        metavar="TIME",
        help="Keep only results with an event time at or after TIME. For a window: with a start at "
        "or after TIME.",
    )
    add(
        "--until",
        metavar="TIME",
        help="Keep only results with an event time before TIME. For a window: with a start before "
        "TIME.",
    )
    add(
        "--keys", action="append", default=[], metavar="COLUMN",
        help="Key column of a result. For a field of JSON in the column value: value.FIELD. The "
        "target gets only the last row of each key.",
    )  # fmt: skip
    run(parser, work)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Run the stream to its end, unless it is there already, and write the target."""
    began = time.monotonic()
    from headgate.spark_jobs.own_process import check_importable

    ranges = read_ranges(given.offsets)
    read_target(given.to, given.columns)
    if given.max_records < 1:
        raise CaptureError(f"--max-records: expected 1 or more, found {given.max_records}")
    check_importable(given.entry_point)
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("headgate-replay").getOrCreate()
    startup = time.monotonic() - began
    replay = Replay(spark, given, ranges, report)
    ended = replay.run(began)
    times = {
        "seconds": round(time.monotonic() - began, 3),
        "startup_seconds": round(startup, 3),
    }
    if ended is not None:
        return Ended(ended.outcome, {**replay.facts(), **times}, ended.error)
    written = replay.write()
    times["seconds"] = round(time.monotonic() - began, 3)
    return Ended("done", {**replay.facts(), "written": written, **times})


class Replay:
    """A function's query, its checkpoint and its results in the folder `--work`."""

    def __init__(
        self, spark: Any, given: argparse.Namespace, ranges: OffsetRanges, report: Report
    ) -> None:
        self._spark, self._given, self._ranges, self._report = spark, given, ranges, report
        self.df, self.mode, self._options = built(spark, given)
        self._results = StreamResults(given.work / "batches", self.mode, self._select)
        self._select(self.df)
        for key in given.keys:
            key_column(self.df, key)
        self._done = KeptFile(given.work / "done.json")
        self._counts = CountsByBatch(given.work / "counts.json")
        self._checkpoint = given.work / "checkpoint"

    def run(self, began: float) -> Ended | None:
        """Run the stream; return None once it is at its end, else how it stopped."""
        if self._done.read() is not None:
            return None
        self._spark.conf.set(_NO_DATA, "true")
        sources = ReplaySources(self._spark, self.df, self._ranges, self._given.rate)
        ends = self._ends(sources)
        sources.ends = self._left(ends)
        writer = self.df.writeStream.outputMode(self.mode).foreachBatch(self._results.keep)
        java = writer._jwrite
        java.option("checkpointLocation", str(self._checkpoint))
        java.trigger(self._spark._jvm.org.apache.spark.sql.streaming.Trigger.AvailableNow())
        bounds = BoundsFile(self._given.work / "bounds.json")
        query = ReplayedQuery(java.start(), sources, bounds, self._report, began, self._counts)
        ended = query.run(None, None)
        if ended.outcome == "failed" and (error := self._results.error) is not None:
            return Ended("failed", {}, failure_of(error))
        if ended.outcome == "done" and not self._is_complete(ends):
            if self._report.must_stop:
                return Ended("stopped", {})
            raise CaptureError(
                f"{self._given.entry_point} stopped before it had processed all records. See "
                "Spark's log"
            )
        if ended.outcome != "done":
            return ended
        self._done.write(True)
        return None

    def _left(self, ends: list[Offsets]) -> list[Offsets]:
        """Return where the batches end that the query does from here.

        If all are committed, a no-data batch is logged: Spark runs none by itself after a start.
        """
        left = remaining(self._checkpoint, ends)
        if not left and not uncommitted(self._checkpoint):
            write_empty_batch(self._checkpoint)
        return left or ends[-1:]

    def _is_complete(self, ends: list[Offsets]) -> bool:
        return not remaining(self._checkpoint, ends) and not uncommitted(self._checkpoint)

    def write(self) -> int:
        """Write the target; return how many rows it has got."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        from headgate.spark_jobs.data.replay_query import counted, reporting, tasks_done
        from headgate.spark_jobs.data.write_output import shaped, write_batch

        target = read_target(self._given.to, self._given.columns)
        by = "key" if target.format == "kafka" else None
        rows = self._results.rows(self.df, self._given.keys, ordered_by=by)
        written = Observation("written")
        rows = shaped(rows, target, run=self._given.run)
        rows = rows.observe(written, f.count(f.lit(1)).alias("rows"))
        with reporting(self._report, lambda: tasks_done(self._spark), "tasks"):
            write_batch(rows, target, self._options)
        return counted(written)

    def facts(self) -> dict[str, Any]:
        """Return what the stream has done."""
        # Spark keeps only the newest entries of its logs.
        last = max(batches(self._checkpoint, "commits"), default=-1)
        return {**self._counts.facts(range(last + 1)), "mode": self.mode}

    def _select(self, rows: Any) -> Any:
        """Return the results in the requested range of time."""
        from headgate.spark_jobs.data.replay_query import results_between

        given = self._given
        marked = [f.name for f in rows.schema.fields if "spark.watermarkDelayMs" in f.metadata]
        return results_between(rows, given, marked)

    def _ends(self, sources: ReplaySources) -> list[Offsets]:
        """Return where each batch ends: found once, and kept for whoever continues."""
        kept = KeptFile(self._given.work / "ends.json")
        found = kept.read()
        if found is None:
            found = sources.batch_ends(self._given.max_records)
            kept.write(found)
        return list(found)


def built(spark: Any, given: argparse.Namespace) -> tuple[Any, str, dict[str, str]]:
    """Return the function's streaming rows, its output mode, and the options of its sink."""
    from headgate.spark_jobs import block_start
    from headgate.spark_jobs.call_function import called
    from headgate.spark_jobs.choose_query import chosen
    from headgate.spark_jobs.own_process import loader

    started = block_start.intercept_starts()
    returned = called(loader(given.entry_point), spark, given.entry_point)
    df, query = chosen(returned, started, given.query, given.entry_point)
    if query is None:
        return df, "append", {}
    java = query.writer._jwrite
    options = {k.lower(): v for k, v in case_kept(field(java, "extraOptions")).items()}
    return df, str(field(java, "outputMode")).lower(), options


class ReplaySources(BoundSources):
    """The query's Kafka sources, each of which reads its part of the ranges."""

    def __init__(self, spark: Any, df: Any, ranges: OffsetRanges, rate: int | None) -> None:
        self._ranges = ranges
        self._kafka: list[tuple[OffsetRanges, dict[str, str]]] = []
        super().__init__(spark, df, None, rate=rate)

    def replaced(self, leaf: Any) -> dict[str, str]:
        """Return where the source begins, and nothing else that sets a begin or a limit."""
        options = {k: str(v) for k, v in dict(leaf.extraOptions()).items()}
        own = self._own(options)
        self._kafka.append((own, options))
        # A subscription would want offsets of partitions that were added since, too.
        return {
            **dict.fromkeys(_REPLACED, ""),
            "assign": own.assigned(),
            "startingoffsets": own.starting(),
            # Else Spark would leave out what has expired, and say nothing.
            "failondataloss": "true",
        }

    def batch_ends(self, at_most: int) -> list[Offsets]:
        """Return where batches of so many records end, in the order of their arrival."""
        topics = {t for own, _ in self._kafka for t in own.parts}
        kafka = [KafkaTimes(self._jvm, options) for _, options in self._kafka]
        reads = {t: n for n, (own, _) in enumerate(self._kafka) for t in own.parts}

        def first_at(parts: list[tuple[str, int]], at: int) -> dict[tuple[str, int], int]:
            found: dict[tuple[str, int], int] = {}
            for n, one in enumerate(kafka):
                if own := [p for p in parts if reads[p[0]] == n]:
                    found |= one.first_at(own, at)
            return found

        try:
            return batch_ends(self._ranges.only(sorted(topics)), at_most, first_at)
        finally:
            for one in kafka:
                one.close()

    def _own(self, options: dict[str, str]) -> OffsetRanges:
        given = {k.lower(): v for k, v in options.items()}
        if "subscribe" not in given:
            raise CaptureError(
                "a Kafka source has `subscribePattern` or `assign`: a replay needs `subscribe`"
            )
        return self._ranges.only([name.strip() for name in given["subscribe"].split(",")])


class ReplayedQuery(BesideQuery):
    """A query on its way to the end of the range; its batches are counted in a file."""

    def __init__(self, *given: Any) -> None:
        *rest, self._counts = given
        super().__init__(*rest)

    def _take(self, progress: dict[str, Any]) -> None:
        super()._take(progress)
        self._counts.take(progress)


def remaining(checkpoint: Path, ends: list[Offsets]) -> list[Offsets]:
    """Return where the batches end that aren't in the offset log yet."""
    last = max(batches(checkpoint, "offsets"), default=None)
    if last is None:
        return ends
    lines = (checkpoint / "offsets" / str(last)).read_text("utf-8").split("\n")[2:]
    at: Offsets = {}
    for line in lines:
        at |= json.loads(line) if line.startswith("{") else {}
    for number, end in enumerate(ends):
        if all(
            at.get(topic, {}).get(part, 0) <= offset
            for topic, parts in end.items()
            for part, offset in parts.items()
        ):
            return ends[number + 1 :]
    raise CaptureError(
        f"the query of checkpoint {checkpoint} has processed records after the end of --offsets. "
        "Pass a new folder with --work, or the same --offsets as in the first run"
    )


if __name__ == "__main__":
    main()
