"""The Spark programs of a worker: how far one is, its driver and its executors.

Each program of a scene with `spark_tables` writes an event log into the scene's folder, in which
Spark notes each of its jobs at once. So a fault can strike in the midst of the work: Spark's start
takes longer than the work on so few rows, and no clock tells them apart.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headgate.gateway.process.child_process import descendants

EVENTS = "spark-events"
_JOB = b'"Event":"SparkListenerJobStart"'
_DRIVER, _PROGRAM = b"org.apache.spark.deploy.SparkSubmit", b"spark_jobs"
_JAVA = "java"


def event_log(folder: Path) -> dict[str, str]:
    """Return the settings of programs that log to the scene's `folder`, which must exist."""
    events = folder / EVENTS
    events.mkdir(exist_ok=True)
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        # One plain file for each program, readable while it is written.
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }


def begun_jobs(folder: Path = Path()) -> Callable[[], int]:
    """Return what counts the jobs that programs begin in `folder`, those of later logs only."""
    known = _logs(folder)

    def count() -> int:
        new = (log for name, log in _logs(folder).items() if name not in known)
        return sum(_read(log).count(_JOB) for log in new)

    return count


def _read(log: Path) -> bytes:
    try:
        return log.read_bytes()
    except FileNotFoundError:
        # It has lost its `.inprogress` since it was listed.
        return log.with_suffix("").read_bytes()


def _logs(folder: Path) -> dict[str, Path]:
    """Return the logs by the application's id."""
    found = sorted((folder / EVENTS).glob("*"))
    return {log.name.removesuffix(".inprogress"): log for log in found}


def drivers(worker: int) -> list[int]:
    """Return the Java processes of the programs that this worker has started."""
    return [pid for pid in descendants(worker) if _is_driver(pid)]


def programs(worker: int) -> list[int]:
    """Return the Python processes of the programs that this worker has started."""
    return [p for p in descendants(worker) if _PROGRAM in _line(p) and not _is_driver(p)]


def stop(worker: int) -> None:
    """Let the worker stand still, and before it what it has Spark do."""
    for pid in (*drivers(worker), *programs(worker), worker):
        _send(pid, signal.SIGSTOP)


def resume(worker: int) -> None:
    """Resume all of them."""
    for pid in (*drivers(worker), *programs(worker), worker):
        _send(pid, signal.SIGCONT)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def kill(processes: list[int]) -> None:
    """Kill them; AssertionError where there is none."""
    assert processes, "no such process lives"
    for pid in processes:
        os.kill(pid, signal.SIGKILL)


def _is_driver(pid: int) -> bool:
    line = _line(pid)
    return _DRIVER in line and line.partition(b"\0")[0].endswith(_JAVA.encode())


def _line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
