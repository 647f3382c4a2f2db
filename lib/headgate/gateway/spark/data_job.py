"""Run a program of `spark_jobs/data` beside us, with the connections and jars that it needs."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headgate.gateway.process.jars import delta_jars, jdbc_jars, spark_jars
from headgate.gateway.spark.run_job import ended_early, program_environment, run_program
from headgate.gateway.spark.submit_job import CONNECTIONS, DELTA, as_properties

LOG = "HEADGATE_CHILD_LOG"
LOCAL = "local[*]"
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_PARTS = {"kafka": spark_jars, "delta": delta_jars, "jdbc": jdbc_jars}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataJob:
    """A program and its arguments; `parts` of `kafka`, `delta` and `jdbc` are the jars it needs.

    `connections` reach the program by its environment, so that no file and no command line has
    them. `what` names the work in errors.
    """

    module: str
    arguments: Sequence[str]
    what: str
    parts: frozenset[str] = frozenset()
    connections: Mapping[str, Any] = field(default_factory=dict, repr=False)
    conf: Mapping[str, str] = field(default_factory=dict)
    master: str = LOCAL
    timeout_s: float = 6 * 3600.0


def run_data_job(
    job: DataJob,
    folder: Path,
    *,
    say: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[int, dict[str, Any] | None]:
    """Return the exit code and the result; `folder` is an empty one for the program's files.

    Each line that the program reports goes to `say`. The result is None if it left none; then
    `data_job_ended` says how it ended. SetupError where jars are missing, UnreachableError if it
    did not end in time, RunCancelledError once `cancelled`.
    """
    result, progress = folder / "result.json", folder / "progress"
    progress.touch()
    lines = _Lines(progress, say)

    def poll() -> bool:
        lines.forward()
        return cancelled()

    code = run_program(
        [job.module, "--result", str(result), "--progress", str(progress), *job.arguments],
        importable=[folder],
        timeout_s=job.timeout_s,
        what=job.what,
        environment=_environment(job, folder),
        cancelled=poll,
    )
    lines.forward()
    return code, json.loads(result.read_text("utf-8")) if result.is_file() else None


def data_job_ended(job: DataJob, code: int, folder: Path) -> str:
    """Say how a program ended that left no result."""
    return ended_early(job.what, code, folder / "spark.log")


class _Lines:
    """The lines of a file that grows, each passed on once."""

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        self._path, self._say, self._read = path, say, 0

    def forward(self) -> None:
        """Pass on the lines that are new and complete."""
        text = self._path.read_text(encoding="utf-8")[self._read :]
        complete = text[: text.rfind("\n") + 1]
        self._read += len(complete)
        for line in complete.splitlines():
            self._say(line)


def _environment(job: DataJob, folder: Path) -> dict[str, str]:
    # The program is ours: it may use what this process may, to reach remote files.
    base = program_environment([folder], with_credentials=True)
    return base | {
        "PYSPARK_SUBMIT_ARGS": shlex.join(_submit(job, folder)),
        "PYSPARK_PYTHON": sys.executable,
        "TMPDIR": str(folder),
        CONNECTIONS: json.dumps(dict(job.connections)),
        LOG: str(folder / "spark.log"),
    }


def _submit(job: DataJob, folder: Path) -> list[str]:
    jars = [str(jar) for part in sorted(job.parts) for jar in _PARTS[part]()]
    local = {**_LOOPBACK, "spark.local.dir": str(folder / "local")}
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": f"{_memory()}m",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "64",
        **(local if job.master.startswith("local") else {}),
        **(DELTA if "delta" in job.parts else {}),
        **job.conf,
    }
    # A file, since whoever lists processes sees their arguments; it goes with the folder.
    properties = folder / "spark.properties"
    properties.touch(mode=0o600)
    properties.write_text(as_properties(conf), encoding="utf-8")
    joined = ("--jars", ",".join(jars)) if jars else ()
    settings = ("--properties-file", str(properties))
    return ["--master", job.master, *joined, *settings, "pyspark-shell"]


def _memory() -> int:
    """Return how many MiB the JVM may take: a fourth of the machine, 1 to 8 GiB."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (ValueError, OSError):
        whole = 0
    return min(max(whole // 4, 1024), 8 << 10)
