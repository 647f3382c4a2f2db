"""Run a data program as Headgate's child: it ends with its parent, and Spark's log is a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from headgate.spark_jobs.own_process import end_with_parent, redirect

LOG = "HEADGATE_CHILD_LOG"
"""Names the file of Spark's log; not set where `spark-submit` runs the program."""


def run_as_child(main: Callable[[], int]) -> int:
    """Return what `main` returns."""
    if log := os.environ.get(LOG):
        end_with_parent()
        redirect(Path(log))
    return main()
