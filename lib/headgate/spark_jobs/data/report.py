"""How a program that processes data reports: progress and result as JSON, and how it is stopped.

With `--report FOLDER` it appends a line to `progress.jsonl` there for each report, writes
`result.json` at its end, and stops at its next safe point once a file `stop` is there. Without the
option, reports go to stderr and the result to stdout. So it needs nothing of Headgate's worker.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from headgate.errors import HeadgateError
from headgate.spark_jobs.engine_error import stop_cause
from headgate.spark_jobs.own_process import end_with_parent
from headgate.text.secrets import mask_text

PROGRESS, RESULT, STOP = "progress.jsonl", "result.json", "stop"
# Set by Headgate's worker, with which the program then ends.
TIED = "HEADGATE_COMMAND"
_CODES = {"done": 0, "stopped": 3, "failed": 1}


@dataclass(frozen=True, slots=True)
class Ended:
    """How the work ended (`done`, `stopped` or `failed`), what was done, and the error's line.

    `code` is the exit code, None for the outcome's own.
    """

    outcome: str
    facts: Mapping[str, Any]
    error: str = ""
    code: int | None = None


class Report:
    """Where one program reports to."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @property
    def must_stop(self) -> bool:
        """Whether somebody wants the program to stop at its next safe point."""
        return self._folder is not None and (self._folder / STOP).exists()

    def progress(self, **values: Any) -> None:
        """Report how far the work is: `done`, `total`, `unit`, a `note`, and what else is known."""
        line = json.dumps(values)
        if self._folder is None:
            print(line, file=sys.stderr, flush=True)
            return
        with (self._folder / PROGRESS).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def result(self, ended: Ended) -> None:
        """Write the result; it is visible whole or not at all."""
        found = {"schema": 1, "outcome": ended.outcome, "facts": dict(ended.facts)}
        text = json.dumps(found | {"error": mask_text(ended.error) if ended.error else None})
        if self._folder is None:
            print(text, flush=True)
            return
        draft = self._folder / f"{RESULT}.part"
        draft.write_text(text, encoding="utf-8")
        draft.replace(self._folder / RESULT)


def run(
    parser: argparse.ArgumentParser,
    work: Callable[[argparse.Namespace, Report], Ended],
    write: Callable[[argparse.Namespace, Ended], None] | None = None,
) -> NoReturn:
    """Parse the command line, do the work, report how it ended, and leave.

    The exit code is 0 for done, 3 for stopped, 1 for failed, 2 for a wrong command line, unless
    the work names another one. `write` writes the result where there is no `--report`.
    """
    parser.add_argument(
        "--report", type=Path, metavar="FOLDER", help="Folder for progress.jsonl and result.json."
    )
    given = parser.parse_args()
    if os.environ.get(TIED):
        end_with_parent()
    report = Report(given.report)
    try:
        ended = work(given, report)
    except HeadgateError as error:
        ended = Ended("failed", {}, str(error))
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        ended = Ended("failed", {}, failure_of(error))
    if write is None or given.report is not None:
        report.result(ended)
    else:
        write(given, ended)
    _leave(_CODES[ended.outcome] if ended.code is None else ended.code)


def failure_of(error: Any) -> str:
    """Return one line with the engine's condition, or the class of the error, and its message."""
    found = stop_cause(error)
    named = found.condition or found.error_class
    return found.message if named in found.message else f"{named}: {found.message}"


def _leave(code: int) -> NoReturn:
    """End the session, so that a cluster frees its executors, and leave without waiting."""
    from pyspark import SparkContext

    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    logging.disable(logging.CRITICAL)
    if context is not None and not str(context.master).startswith("local"):
        context._jsc.stop()
    java = getattr(gateway, "proc", None)
    if java is not None:
        java.kill()
        java.wait()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
