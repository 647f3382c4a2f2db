"""Finds the failing records of several functions, in one Spark process; prints JSON."""

import json
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path

from headgate.errors import CaptureError
from headgate.spark_jobs.data.kafka_reading import counting_session
from headgate.spark_jobs.data.leave_out_failing import built_without_failing
from headgate.spark_jobs.data.offset_ranges import read_ranges
from headgate.spark_jobs.data.replay_query import built_as_batch, call_as_batch
from headgate.spark_jobs.data.report import Report
from headgate.spark_jobs.failing.find_records import FailingRecords


def main(offsets, most, functions):
    ranges, spark = read_ranges(offsets), counting_session("failing")
    given = Namespace(
        query=None, input_from=None, input_until=None, failing=Path("found.json"),
        max_failing=int(most),
    )  # fmt: skip
    built, found = None, {}
    for function in functions:
        given.entry_point = f"control_queries:{function}"
        if built is None:
            built, query = built_as_batch(spark, given, ranges, slices=1)
        else:
            for kept in (built.counts, built.watermarks, built.writers):
                kept.clear()
            query = call_as_batch(spark, given, built)
        try:
            if function == "kept":
                import_module("control_queries").keep.cache_clear()
                built_without_failing(spark, given, ranges, Report(None), lambda _, q: q.rows)
            search = FailingRecords(spark, query.rows, int(most))
            records = search.find(ranges.parts)
        except CaptureError as error:
            found[function] = str(error)
            continue
        found[function] = [[r.topic, r.partition, r.offset, r.message] for r in records]
        print(function, search.tries, file=sys.stderr)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
