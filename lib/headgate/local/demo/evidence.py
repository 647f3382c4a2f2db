"""What a running query of the demo leaves for Headgate to read, in one folder.

What the session knows of it (the sink's topic is in no plan that runs), `running.txt` of
the first batch in which every source had rows (an empty one hides its sources), and
`progress.json` of the newest batch. The folder gets its name once all of it is there, so nobody
takes a half of it for a change; until then the one of the run before stays.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from pathlib import Path

from pyspark.sql.streaming import DataStreamWriter, StreamingQuery
from pyspark.sql.streaming.listener import StreamingQueryProgress

from headgate.spark_jobs.block_sources import EmptyFolders
from headgate.spark_jobs.block_start import Unstarted
from headgate.spark_jobs.record_query import RecordFolder, record
from headgate.spark_jobs.user_functions import watch_functions


class EvidenceFolder:
    """`folder`, and the next one, which is made beside it; `scratch` takes what isn't evidence."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder = folder
        self._scratch = scratch
        self._next = scratch / "evidence"
        self._complete = False

    def of_session(self, writer: DataStreamWriter) -> None:
        """Record what the session knows of the query; a failure is reported, and stops nothing."""
        self._next.mkdir(parents=True)
        try:
            place, unread = (
                RecordFolder(self._next, self._scratch),
                EmptyFolders(self._scratch / "unread"),
            )
            record(writer._df, Unstarted(writer), watch_functions(), unread, place)
        except Exception as error:
            print(f"the query's evidence could not be recorded: {error}", file=sys.stderr)

    def of_batch(self, query: StreamingQuery, progress: StreamingQueryProgress) -> None:
        """Write down what a batch reported."""
        if self._complete:
            _write(self._folder / "progress.json", progress.json)
        elif all(source.numInputRows for source in progress.sources):
            _write(self._next / "running.txt", _explain(query))
            _write(self._next / "progress.json", progress.json)
            self._publish()
            self._complete = True

    def _publish(self) -> None:
        if self._folder.exists():
            self._folder.rename(self._scratch / "evidence-before")
        self._next.rename(self._folder)
        shutil.rmtree(self._scratch / "evidence-before", ignore_errors=True)


def _explain(query: StreamingQuery) -> str:
    """Return the plans of the last batch, logical and physical."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        query.explain(extended=True)
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.rename(path)
