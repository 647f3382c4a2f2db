"""Run a program of `spark_jobs` beside us, without credentials, and end it when it hangs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import RunCancelledError, SetupError, UnreachableError
from headgate.gateway.process.clean_environment import clean_environment
from headgate.gateway.process.jars import ENVIRONMENT as JARS
from headgate.gateway.process.jars import install_step, spark_jars

_POLL_S = 0.2
BUSY = ", so Headgate ended the process. Check this machine's load and memory, then try again"
# The folder that this package is imported from.
_PACKAGES = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Checkout:
    """One version of the code: the folders that it is imported from, the first is the current one.

    `python` is its own interpreter, None for ours. Nothing may be imported from `other`, the
    working tree of another version.
    """

    importable: tuple[Path, ...]
    python: Path | None = None
    other: Path | None = None

    @property
    def interpreter(self) -> str:
        """The interpreter that runs it."""
        return str(self.python or sys.executable)

    def environment(self) -> dict[str, str]:
        """Return the environment of its programs, without credentials."""
        found = program_environment(self.importable) | {"PYSPARK_PYTHON": self.interpreter}
        if self.other is None:
            return found
        folders = found["PYTHONPATH"].split(os.pathsep)
        kept = [f for f in folders if f and not _is_below(Path(f), self.other)]
        # A relative folder is below the current one, which is this version's.
        return found | {
            "PYTHONPATH": os.pathsep.join(kept),
            "HEADGATE_OTHER_TREE": str(self.other),
        }


def _is_below(folder: Path, other: Path) -> bool:
    is_ours = folder.is_absolute() and folder.resolve() == _PACKAGES
    return folder.is_absolute() and not is_ours and folder.resolve().is_relative_to(other)


def joined_jars() -> str:
    """Return Spark's further jars, joined by commas; empty where none are here."""
    try:
        return ",".join(map(str, spark_jars()))
    except SetupError:
        return ""  # not every query needs them


def jars_hint(error: str) -> str:
    """Return what to do where an error comes from jars that are not here."""
    if "data source: kafka" not in error:
        return ""
    return (
        f"; Spark's Kafka jars are not installed: {install_step()}. If the jars are in another "
        f"folder, set {JARS} to this folder"
    )


class Clock:
    """The time of each step of a program: it restarts when `progress` returns another number.

    The first step may take `start_s` longer.
    """

    def __init__(
        self, timeout_s: float, progress: Callable[[], int] = lambda: 0, start_s: float = 0.0
    ) -> None:
        self.timeout_s = timeout_s
        self._progress, self._known = progress, progress()
        self._end = time.monotonic() + timeout_s + start_s

    def is_over(self) -> bool:
        """Say whether the step that runs now took too long."""
        if (now := self._progress()) != self._known:
            self._known, self._end = now, time.monotonic() + self.timeout_s
        return time.monotonic() >= self._end


def run_program(
    command: Sequence[str],
    *,
    importable: Sequence[Path],
    timeout_s: float | Clock,
    what: str,
    environment: dict[str, str],
    cancelled: Callable[[], bool] = lambda: False,
    hint: str = BUSY,
    python: str = sys.executable,
) -> int:
    """Run in a process group of its own and return the exit code.

    Whatever is left of the group afterwards is killed. `what` names the work in the
    UnreachableError of one that did not end in time, which `hint` may say more of, and in the
    RunCancelledError once `cancelled`.
    """
    process = subprocess.Popen(
        [python, "-P", "-m", *command],
        cwd=importable[0],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        clock = timeout_s if isinstance(timeout_s, Clock) else Clock(timeout_s)
        code = _ended(process, clock, what, cancelled)
        if code is None:
            raise UnreachableError(f"{what} did not end within {clock.timeout_s:g} s{hint}")
        return code
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ended(
    process: subprocess.Popen[bytes], clock: Clock, what: str, cancelled: Callable[[], bool]
) -> int | None:
    """Wait for the exit code; None where there is none in time."""
    while not clock.is_over():
        if cancelled():
            raise RunCancelledError(f"{what} was cancelled. The original checkpoint is unchanged")
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_S)
    return None


def program_environment(
    importable: Sequence[Path], *, with_credentials: bool = False
) -> dict[str, str]:
    """Return the environment for somebody's code; credentials only where they were allowed."""
    kept, withheld = (dict(os.environ), ()) if with_credentials else clean_environment(os.environ)
    path = [*(str(f.absolute()) for f in importable), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HEADGATE_WITHHELD": ",".join(withheld),
    }


def ended_early(what: str, code: int, log: Path) -> str:
    """Say how a program ended that left no outcome, with the last line of Spark's log."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    how, step = f"exit code {code}", "Run `headgate doctor`"
    if code < 0:
        how, step = f"killed by signal {-code}", "Check the machine's memory"
    last = f": {lines[-1][:300].rstrip('.')}" if lines else ""
    return f"{what} ended without a result ({how}){last}. {step}"
