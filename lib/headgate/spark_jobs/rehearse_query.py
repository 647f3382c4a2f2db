"""The program that starts `module:function(spark)` on a copy of a checkpoint, for one batch.

It runs in a process of its own, with a JVM of its own: a query of the same id in one JVM would stop
the other. The pieces of evidence go into a folder as those of a capture; `.scratch/outcome.json`
there says `{"error": sentence | null, "engine": {...}}`, and nothing else is to be read.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.own_process import check_importable, end, end_with_parent, loader, redirect
from headgate.text.secrets import mask_text

_WITHHELD = (
    "a rehearsal runs without credentials, so this environment variable isn't set. To pass "
    "credentials, use `headgate rehearse --with-credentials`"
)
_UNBOUNDED = "the source {} has no option that limits a batch: the batch may be large"
_NO_WRITER = (
    "sink and output mode, because the function returned a DataFrame. The rehearsal used output "
    "mode {mode}. To test the query's own sink and output mode, return a DataStreamWriter"
)


def main() -> None:
    """Run one rehearsal, as the JSON file that is the only argument says."""
    end_with_parent()
    wish = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    into = Path(wish["into"])
    scratch = into / ".scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    redirect(scratch / "spark.log")
    found: dict[str, Any] = {"error": None, "engine": None}
    try:
        found["engine"] = _rehearse(wish, into, scratch)
    except CaptureError as caught:
        found["error"] = mask_text(str(caught))
    except Exception as caught:
        traceback.print_exc(file=sys.stderr)
        reason = f"{type(caught).__name__}: {str(caught).split(chr(10), 1)[0]}"
        found["error"] = mask_text(f"{wish['entry_point']} could not be rehearsed: {reason}")
    (scratch / "outcome.json").write_text(json.dumps(found), encoding="utf-8")
    end()


def _rehearse(wish: dict[str, Any], into: Path, scratch: Path) -> dict[str, Any]:
    deadline = time.monotonic() + float(wish["seconds"])
    entry_point = str(wish["entry_point"])
    check_importable(entry_point)
    from headgate.spark_jobs import (
        batch_log,
        block_sources,
        block_start,
        rehearse_batches,
        user_functions,
    )
    from headgate.spark_jobs.bounded_sources import Bounds, bound_readers
    from headgate.spark_jobs.call_function import called
    from headgate.spark_jobs.choose_query import chosen, with_any_sink
    from headgate.spark_jobs.record_query import RecordFolder, record, record_settings

    spark = _session(wish, scratch)
    folders = block_sources.EmptyFolders(scratch / "unread")
    bounds = Bounds(int(wish["max_records"]), tuple(wish["allow_sources"]))
    if wish["batch"] == "none":
        block_sources.guard_readers(folders)
    else:
        bound_readers(bounds)
    started = block_start.intercept_starts()
    block_start.ignore_listeners()
    used = user_functions.watch_functions()
    before = dict(spark.conf.getAll)
    _set(spark, wish["conf"])
    returned = called(loader(entry_point), spark, entry_point, _WITHHELD)
    df, query = chosen(returned, started, wish["query"], entry_point)
    record_settings(df, before, into)
    record(df, query, used, folders, RecordFolder(into, scratch))
    given = wish["given"]
    if given and not batch_log.same_sources(into, Path(given["pieces"])):
        wish = wish | {"batch": "real"}
    # The driver would join the group that a Kafka source names, instead of asking for offsets.
    _set(df.sparkSession, {"spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "false"})
    notes = [_UNBOUNDED.format(kind) for kind in bounds.unbounded]
    if query is None:
        query, mode = with_any_sink(df)
        notes.append(_NO_WRITER.format(mode=mode))
    return rehearse_batches.run(wish, query, scratch, deadline, notes)


def _set(spark: Any, settings: dict[str, str]) -> None:
    for key, value in settings.items():
        try:
            spark.conf.set(key, value)
        except Exception as error:
            reason = str(error).split("\n", 1)[0]
            raise CaptureError(f"--conf {key} can't be set: {reason}") from error


def _session(wish: dict[str, Any], scratch: Path) -> Any:
    from pyspark.sql import SparkSession

    from headgate.spark_jobs.capture_query import settings_in

    builder = SparkSession.builder.master("local[2]").appName("headgate-rehearsal")
    own = {
        "spark.driver.memory": "1g",
        "spark.sql.runSQLOnFiles": "false" if wish["batch"] == "none" else "true",
        # Of nothing but this start shall be read what became of it.
        "spark.sql.streaming.numRecentProgressUpdates": "100",
        **({"spark.jars": wish["jars"]} if wish["jars"] else {}),
    }
    for key, value in (settings_in(scratch) | own).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


if __name__ == "__main__":
    main()
