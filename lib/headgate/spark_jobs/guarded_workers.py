"""Python workers of a twin run: PySpark's own, but user functions reach nothing outside.

Spark starts this module in the place of `pyspark.daemon` (`spark.python.daemon.module`). Workers
are forks of it, so they have its guard. SCRATCH names the folder that they may write to.
"""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.daemon import manager

from headgate.spark_jobs.guard_effects import EffectGuard

SCRATCH = "HEADGATE_TWIN_SCRATCH"


def main() -> None:
    """Guard this process, then serve Spark until it ends."""
    guard = EffectGuard(when="while it processes rows")
    guard.allow(Path(os.environ[SCRATCH]))
    guard.install()
    guard.is_armed = True
    manager()


if __name__ == "__main__":
    main()
