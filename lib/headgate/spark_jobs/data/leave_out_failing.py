"""Build a function's query as a batch over all records but those at which the function fails."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.offset_ranges import OffsetRanges
from headgate.spark_jobs.data.report import Report


def built_without_failing(
    spark: Any,
    given: argparse.Namespace,
    ranges: OffsetRanges,
    report: Report,
    rows_of: Callable[[Any, Any], Any],
) -> tuple[Any, Any, int]:
    """Return what the function built, its writer or DataFrame, and how many records are left out.

    `rows_of(built, query)` are the rows that are written: records are searched at which these fail.
    The function is called three times: to see that it can be called again, for the search, and for
    the query that reads all others.
    """
    from headgate.spark_jobs.data.kept_counts import KeptFile
    from headgate.spark_jobs.data.replay_query import built_as_batch
    from headgate.spark_jobs.failing.find_records import (
        FailingRecords,
        found_before,
        found_document,
        leave_out,
    )
    from headgate.spark_jobs.own_process import own_code

    # With it no source is observed (only its first reading would count), and one task reads a
    # partition: a try ends at the first record that fails.
    built, _ = built_as_batch(spark, given, ranges, slices=1)
    query = _called_again(spark, given, built)

    def on_progress(done: int) -> None:
        if report.must_stop:
            raise CaptureError("the search for failing records was stopped")
        report.progress(done=done, total=ranges.records, unit="offsets searched")

    search = FailingRecords(spark, rows_of(built, query), given.max_failing, on_progress)
    made_of = own_code() | {
        "entry point": f"{given.entry_point} {given.query or ''}",
        "offsets": json.dumps(ranges.parts, sort_keys=True),
    }
    kept = KeptFile(given.failing)
    found = found_before(kept.read(), made_of)
    # The files of the code are the same, but not all that it needs has to be.
    found = search.find(ranges.parts) if found is None else search.confirmed(found)
    kept.write(found_document(found, made_of))
    left_out = list(found)
    built.rows_of = lambda own, read: leave_out(read(own), left_out)
    built.slices = None
    built.counts.clear()
    return built, _called_again(spark, given, built), len(found)


def _called_again(spark: Any, given: argparse.Namespace, built: Any) -> Any:
    """Call the function once more; CaptureError if it keeps sources of the call before."""
    from headgate.spark_jobs.data.replay_query import call_as_batch, forget_call

    forget_call(spark, built)
    before, built.reads = built.reads, 0
    query = call_as_batch(spark, given, built)
    if built.reads != before:
        raise CaptureError(
            f"{given.entry_point} doesn't read its Kafka sources on a second call. Build the "
            "sources inside the function, and don't cache them"
        )
    return query
