"""Run a query to the offsets that exist now, on its own checkpoint and to its own sink, and stop.

    run_bounded.py --entry-point MODULE:FUNCTION --checkpoint LOCATION --bounds FILE

The query is the one that `function(spark)` returns or starts. Its trigger and checkpointLocation
are replaced, nothing else. With the same `--bounds` file a run that was killed or stopped ends at
the same offsets. The result's facts are `query_id`, `batches` (count), `first_batch`,
`last_batch`, `records`, `bound` and `reached` (by number of the source: offsets by topic and
partition), `seconds`, and `startup_seconds`, which are among them. Those of `BatchCounts` are of
all starts with the `--bounds` file. Of a run that was stopped, `why` is `time` or `asked`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.bound_kafka import BoundsFile, BoundSources, Offsets
from headgate.spark_jobs.data.report import Ended, Report, failure_of, run

# Each call into Java takes something from the query: at 20 a second, a run was 15 % slower.
_LOOK_SECONDS, _WAIT_SECONDS = 2.0, 0.5


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(
        description="Run a query to the latest offsets at the start of the run, then stop it."
    )
    parser.add_argument("--entry-point", required=True, metavar="MODULE:FUNCTION")
    parser.add_argument("--query", help="Name of the query, if the function starts several.")
    parser.add_argument("--checkpoint", required=True, help="Path or URI of the checkpoint.")
    parser.add_argument("--query-id", help="Id that the checkpoint's query must have.")
    parser.add_argument(
        "--bounds",
        required=True,
        type=Path,
        help="File for the end offsets. A restarted run ends at the offsets in this file.",
    )
    parser.add_argument(
        "--until",
        type=json.loads,
        help="End offsets as JSON (default: the latest offsets): {TOPIC: {PARTITION: OFFSET}}.",
    )
    parser.add_argument("--max-records", type=int, help="Maximum number of records in a batch.")
    parser.add_argument(
        "--rate", type=int, help="Rate limit in records per second (default: none)."
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        help="Time limit in seconds, over all restarts of the run. At the limit, the query "
        "completes its batch and stops.",
    )
    run(parser, work)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Build the query, bind its sources, and let it run to its end."""
    began = time.monotonic()
    from headgate.spark_jobs.own_process import check_importable

    check_importable(given.entry_point)
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("headgate-bounded").getOrCreate()
    unstarted = build_query(spark, given)
    writer = unstarted.writer
    sources = BoundSources(spark, writer._df, given.max_records, rate=given.rate)
    java = writer._jwrite
    java.option("checkpointLocation", given.checkpoint)
    java.trigger(spark._jvm.org.apache.spark.sql.streaming.Trigger.AvailableNow())
    query = java.toTable(unstarted.table) if unstarted.table else java.start()
    bounded = BoundedQuery(query, sources, BoundsFile(given.bounds, given.until), report, began)
    return bounded.run(given.time_limit, given.query_id)


def build_query(spark: Any, given: argparse.Namespace) -> Any:
    """Return what the function would start; CaptureError if it isn't a query with a sink."""
    from headgate.spark_jobs import block_start
    from headgate.spark_jobs.call_function import called
    from headgate.spark_jobs.choose_query import chosen
    from headgate.spark_jobs.own_process import loader

    started = block_start.intercept_starts(refuse_writes=False)
    returned = called(loader(given.entry_point), spark, given.entry_point)
    _, query = chosen(returned, started, given.query, given.entry_point)
    if query is None:
        raise CaptureError(
            f"{given.entry_point} returned a DataFrame: return its DataStreamWriter, or start the "
            "query"
        )
    return query


class BoundedQuery:
    """A started query on its way to its bounds; times are in seconds, `began` a monotonic one."""

    def __init__(
        self, query: Any, sources: BoundSources, bounds: BoundsFile, report: Report, began: float
    ) -> None:
        self._query = query
        self._sources = sources
        self._bounds = bounds
        self._report = report
        self._began = began
        self._used = bounds.seconds
        self._startup: float | None = None
        self._batches: dict[int, dict[str, Any]] = {}
        self._why: str | None = None

    def run(self, limit: float | None, query_id: str | None) -> Ended:
        """Wait for the end of the query, and return how it ended."""
        self._sources.bind(self._query, self._bounds)
        if query_id is not None and str(self._query.id()) != query_id:
            self._query.stop()
            why = (
                f"the checkpoint belongs to query {self._query.id()}, not to query {query_id}. "
                "Check whether the checkpoint was replaced, then plan again"
            )
            return Ended("failed", {}, why)
        while self._query.isActive():
            self._look()
            self._stop_if_due(limit)
            # Raises what the query failed with, which `exception` says as well.
            self._wait()
        self._look()
        return self._ended()

    def _wait(self) -> None:
        end = time.monotonic() + _LOOK_SECONDS
        while self._query.isActive() and time.monotonic() < end:
            time.sleep(_WAIT_SECONDS)

    def _stop_if_due(self, limit: float | None) -> None:
        if self._why is not None:
            return
        if self._report.must_stop:
            self._why = "asked"
        elif limit is not None and self._bounds.seconds >= limit and self._batches:
            # A batch at least: with less than Spark's start-up, a run would never get on.
            self._why = "time"
        if self._why is not None:
            self._sources.stop()

    def _look(self) -> None:
        """Take in the batches that are done since, and report how far the query is."""
        self._bounds.seconds = self._used + time.monotonic() - self._began
        new = self._unseen()
        for progress in new:
            self._take(progress)
        if new:
            self._bounds.write()
            self._report_progress()

    def _unseen(self) -> list[dict[str, Any]]:
        """Return the progress of the batches that are done since the last look, oldest first.

        Only theirs is fetched: Java keeps a hundred, and to write all of them at each look took a
        core a good part of its time.
        """
        recent, found = self._query.recentProgress(), []
        for at in reversed(range(len(recent))):
            if recent[at].batchId() in self._batches:
                break
            found.append(json.loads(recent[at].json()))
        return [p for p in reversed(found) if _is_batch(p)]

    def _take(self, progress: dict[str, Any]) -> None:
        if self._startup is None:
            took = progress["durationMs"].get("triggerExecution", 0) / 1000
            self._startup = max(time.monotonic() - self._began - took, 0.0)
        if not self._bounds.started:
            # Where the query was; the source itself knows only where it would begin.
            self._bounds.started = True
            for number, source in enumerate(progress["sources"]):
                known = self._bounds.sources.get(str(number), {})
                known |= {"begin": source["startOffset"]} if source["startOffset"] else {}
        self._batches[progress["batchId"]] = progress
        self._bounds.counts.add(progress)

    def _report_progress(self) -> None:
        begins, bounds, at = self._bounds.begins, self._bounds.bounds, self._reached()
        parts = {
            f"{topic}[{part}]": [_at(begins, n, topic, part), _at(at, n, topic, part), end]
            for n, topics in bounds.items()
            for topic, ends in topics.items()
            for part, end in ends.items()
        }
        done = sum(max(here - begin, 0) for begin, here, _ in parts.values())
        total = sum(max(end - begin, 0) for begin, _, end in parts.values())
        self._report.progress(
            done=done, total=max(total, done), unit="records", partitions=parts,
            batch=max(self._batches), seconds=round(self._bounds.seconds, 1),
        )  # fmt: skip

    def _reached(self) -> dict[int, Offsets]:
        if not self._batches:
            return self._bounds.begins
        last = self._batches[max(self._batches)]
        return {n: s["endOffset"] for n, s in enumerate(last["sources"])}

    def _ended(self) -> Ended:
        facts = self._facts()
        failed = self._query.exception()
        if failed.isDefined():
            self._bounds.write()
            return Ended("failed", facts, failure_of(failed.get()))
        if self._why is not None and not self._is_there():
            # Whoever resumes after the limit gets the whole limit.
            self._bounds.seconds = 0.0 if self._why == "time" else self._bounds.seconds
            self._bounds.write()
            return Ended("stopped", facts | {"why": self._why})
        return Ended("done", facts)

    def _is_there(self) -> bool:
        at = self._reached()
        return all(
            _at(at, n, topic, part) >= end
            for n, topics in self._bounds.bounds.items()
            for topic, ends in topics.items()
            for part, end in ends.items()
        )

    def _facts(self) -> dict[str, Any]:
        rows = sum(p["numInputRows"] for p in self._batches.values())
        return {
            "query_id": str(self._query.id()),
            "batches": len(self._batches),
            "first_batch": min(self._batches, default=None),
            "last_batch": max(self._batches, default=None),
            "records": rows,
            "bound": self._bounds.bounds,
            "reached": self._reached(),
            "seconds": round(time.monotonic() - self._began, 3),
            "startup_seconds": round(self._startup, 3) if self._startup is not None else None,
            **self._bounds.counts.facts(),
        }


def _is_batch(progress: dict[str, Any]) -> bool:
    """Whether it reports a batch; an idle query reports without one."""
    return "addBatch" in progress["durationMs"]


def _at(offsets: dict[int, Offsets], number: int, topic: str, part: str) -> int:
    return int((offsets.get(number) or {}).get(topic, {}).get(part, 0))


if __name__ == "__main__":
    main()
