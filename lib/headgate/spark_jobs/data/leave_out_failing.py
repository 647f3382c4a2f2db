"""Build a function's query as a batch over all records but those at which the function fails."""

from __future__ import annotations

import argparse
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.data.offset_ranges import OffsetRanges
from headgate.spark_jobs.data.report import Report


def built_without_failing(
    spark: Any, given: argparse.Namespace, ranges: OffsetRanges, report: Report
) -> tuple[Any, Any, int]:
    """Return what the function built, its writer or DataFrame, and how many records are left out.

    The function is called twice: for the search, and for the query that reads all others.
    """
    from headgate.spark_jobs.data.kept_counts import KeptFile
    from headgate.spark_jobs.data.replay_query import built_as_batch, call_as_batch
    from headgate.spark_jobs.failing.find_records import (
        FailingRecords,
        found_document,
        leave_out,
        read_found,
    )
    from headgate.spark_jobs.own_process import own_code

    # With it no source is observed (only its first reading would count), and one task reads a
    # partition: a try ends at the first record that fails.
    built, query = built_as_batch(spark, given, ranges, slices=1)
    code = own_code()
    found = read_found(given.failing, code)
    if found is None:

        def tell(done: int) -> None:
            if report.must_stop:
                raise CaptureError("the search for failing records was stopped")
            report.progress(done=done, total=ranges.records, unit="offsets searched")

        rows = getattr(query, "rows", query)
        found = FailingRecords(spark, rows, given.max_failing, tell).find(ranges.parts)
        KeptFile(given.failing).write(found_document(found, code))
    left_out = list(found)
    built.rows_of = lambda own, read: leave_out(read(own), left_out)
    built.slices = None
    for kept in (built.counts, built.watermarks, built.writers):
        kept.clear()
    for table in spark.catalog.listTables():
        # A function that creates a view isn't made to be called twice.
        if table.isTemporary:
            spark.catalog.dropTempView(table.name)
    return built, call_as_batch(spark, given, built), len(found)
