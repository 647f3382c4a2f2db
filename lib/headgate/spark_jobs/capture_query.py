"""The program that calls each `module:function(spark)` and records the query that it would start.

It runs in a process of its own. The pieces of each go into a folder; `.scratch/outcome.json` there
says `{"error": sentence | null}`, and nothing else of the process is to be read. Whatever a
function prints goes to stderr, Spark's own log into `spark.log`.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.own_process import (
    check_importable,
    end,
    forget_modules,
    loader,
    redirect,
)
from headgate.text.secrets import mask_text

# Long enough for any plan: a cut one can't be compared.
_UNCUT = "1000000"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    # A short life: half the time went into the compiler [run].
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.debug.maxToStringFields": _UNCUT,
    "spark.sql.maxMetadataStringLength": _UNCUT,
    # `SELECT ... FROM json.`path`` would read the path for its schema.
    "spark.sql.runSQLOnFiles": "false",
    # Plans name the zone; it shall not depend on where a capture runs, unless the function says so.
    "spark.sql.session.timeZone": "UTC",
}


def settings_in(scratch: Path) -> dict[str, str]:
    """Return SETTINGS with all that Spark and its libraries write below a folder.

    In Java's own temporary folder, their native code and Spark's artifacts would stay for ever
    whenever the process is killed.
    """
    local = scratch / "local"
    local.mkdir(parents=True, exist_ok=True)
    java = SETTINGS["spark.driver.extraJavaOptions"]
    return SETTINGS | {
        "spark.driver.extraJavaOptions": f'{java} -XX:-UsePerfData "-Djava.io.tmpdir={local}"',
        "spark.local.dir": str(local),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
    }


def main() -> None:
    """Run the captures of a JSON file; the exit code is 0 also where one did not work out."""
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    scratch = Path(request["scratch"])
    redirect(scratch / "spark.log")
    sessions = _Sessions(request["jars"], scratch)
    for one in request["captures"]:
        _write_outcome(one, sessions)
    end()


def _write_outcome(wanted: dict[str, Any], sessions: _Sessions) -> None:
    entry_point, into = str(wanted["entry_point"]), Path(wanted["into"])
    (into / ".scratch").mkdir(parents=True, exist_ok=True)
    try:
        _capture(entry_point, wanted["query"], into, sessions)
        error = None
    except CaptureError as caught:
        error = str(caught)
    except Exception as caught:
        traceback.print_exc(file=sys.stderr)
        reason = f"{type(caught).__name__}: {str(caught).split(chr(10), 1)[0]}"
        error = f"{entry_point} ran, but Headgate could not capture its query: {reason}"
    outcome = {"error": mask_text(error) if error else None}
    (into / ".scratch" / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")


def _capture(entry_point: str, name: str | None, into: Path, sessions: _Sessions) -> None:
    forget_modules()
    check_importable(entry_point)
    from headgate.spark_jobs import block_sources, block_start, user_functions
    from headgate.spark_jobs.call_function import called
    from headgate.spark_jobs.choose_query import chosen
    from headgate.spark_jobs.record_query import RecordFolder, record, record_settings

    scratch = into / ".scratch"
    spark = sessions.new()
    folders = block_sources.EmptyFolders(scratch / "unread")
    block_sources.guard_readers(folders)
    started = block_start.intercept_starts()
    used = user_functions.watch_functions()
    before = dict(spark.conf.getAll)
    returned = called(loader(entry_point), spark, entry_point)
    df, query = chosen(returned, started, name, entry_point)
    record_settings(df, before, into)
    record(df, query, used, folders, RecordFolder(into, scratch))


class _Sessions:
    """One Spark with a session for each capture: settings and views of one are not the next's."""

    def __init__(self, jars: str, scratch: Path) -> None:
        self._jars, self._scratch = jars, scratch
        self._first: Any = None

    def new(self) -> Any:
        """Return a session that `SparkSession.builder.getOrCreate()` gives, too."""
        if self._first is None:
            self._first = _session(self._jars, self._scratch)
            return self._first
        from pyspark.sql import SparkSession

        session = self._first.newSession()
        SparkSession._instantiatedSession = session
        jvm = session._jvm.SparkSession
        jvm.setDefaultSession(session._jsparkSession)
        jvm.setActiveSession(session._jsparkSession)
        return session


def _session(jars: str, scratch: Path) -> Any:
    """Start Spark; if it does not start, its log says why."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("headgate-capture")
    for key, value in settings_in(scratch).items():
        builder = builder.config(key, value)
    return (builder.config("spark.jars", jars) if jars else builder).getOrCreate()


if __name__ == "__main__":
    main()
