"""One version of a query in its own process; it runs on generated rows as often as asked."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.errors import (
    BuildError,
    CaptureError,
    LimitError,
    RunCancelledError,
    UnreachableError,
)
from headgate.gateway.process.usage import Limits
from headgate.gateway.spark.run_job import Checkout, ended_early, jars_hint, joined_jars

_PROGRAM = "headgate.spark_jobs.twin_version"
_POLL_S = 0.02
# Beside the time that a run may take: files are listed, and replies written.
_AROUND_S = 10.0
# Of one version's processes, and of all that both write. A run of one aggregation takes 1 GB.
MEMORY, DISK = 6 << 30, 4 << 30


class TwinProcess:
    """A Spark that builds versions one after the other; leave the `with` block to end it."""

    def __init__(self, folder: Path, checkout: Checkout) -> None:
        """Start it; `folder` is an empty one for its own files. Nothing is awaited."""
        self.folder, self.jars = folder, joined_jars()
        self._limits = Limits(MEMORY, DISK)
        self._numbers = itertools.count()
        folder.mkdir(parents=True)
        request = folder / "request.json"
        request.write_text(json.dumps({"scratch": str(folder), "jars": self.jars}))
        self._process = subprocess.Popen(
            [checkout.interpreter, "-P", "-m", _PROGRAM, str(request)],
            cwd=checkout.importable[0],
            env=checkout.environment() | {"TMPDIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    @property
    def pid(self) -> int:
        """The process and its group: the JVM is in it."""
        return self._process.pid

    def __enter__(self) -> TwinProcess:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def ask(self, command: dict[str, Any]) -> Path:
        """Send a command; return the file that the reply will be in."""
        reply = self.folder / f"reply-{next(self._numbers)}.json"
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the exit code says how it ended
            self._process.stdin.write(json.dumps(command | {"reply": str(reply)}) + "\n")
            self._process.stdin.flush()
        return reply

    def check(self, what: str, folder: Path) -> None:
        """End it and raise LimitError if it uses too much; `folder` is where the run writes."""
        try:
            self._limits.check(what, self.pid, (self.folder, folder))
        except LimitError:
            self.__exit__()
            raise

    def ended(self, what: str) -> str | None:
        """Return how the process ended, None while it runs."""
        code = self._process.poll()
        return None if code is None else ended_early(what, code, self.folder / "spark.log")


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinSetting:
    """What both versions of a twin run share: `rows` is the folder of generated sources."""

    rows: Path
    deadline: float
    conf: Mapping[str, str]
    query: str | None = None
    cancelled: Callable[[], bool] = lambda: False


class TwinVersion:
    """A version in a process; each call returns what gives its reply, so that both work at once.

    A reply raises BuildError for what the function did wrong or if it did not return in time,
    LimitError if it needs too much memory or disk space,
    CaptureError if there is no such function, UnreachableError if the process ended or did not
    answer in time.
    """

    def __init__(
        self, entry_point: str, into: Path, process: TwinProcess, setting: TwinSetting
    ) -> None:
        """`into` is an empty folder for its evidence; `settings` are for every start after it."""
        self.entry_point, self.into = entry_point, into
        self._process, self._setting = process, setting
        self._is_built = False
        self.settings: dict[str, str] = {}
        into.mkdir(parents=True)

    def build(self) -> Callable[[], dict[str, Any]]:
        """Build the query; the reply says what rows are made from."""
        return self._ask(
            {
                "do": "build",
                "entry_point": self.entry_point,
                "into": str(self.into),
                "rows": str(self._setting.rows),
                "conf": dict(self._setting.conf),
                "query": self._setting.query,
            }
        )

    def run(
        self, checkpoint: Path, output: Path, *, counts: bool = False
    ) -> Callable[[], dict[str, Any]]:
        """Take all rows that are there on this checkpoint; `counts`: say what reached what."""
        seconds = max(self._setting.deadline - time.monotonic(), 1.0)
        where = {"checkpoint": str(checkpoint), "output": str(output), "counts": counts}
        return self._ask({"do": "run", "seconds": seconds, "conf": dict(self.settings), **where})

    def state(self, checkpoint: Path, batch: int | None = None) -> Callable[[], dict[str, Any]]:
        """Read every store at a batch, the last one by default."""
        return self._ask({"do": "state", "checkpoint": str(checkpoint), "batch": batch})

    def _ask(self, command: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        reply = self._process.ask(command)
        return lambda: self._reply(reply)

    def _reply(self, path: Path) -> dict[str, Any]:
        what = f"running {self.entry_point} on generated rows"
        while not path.is_file():
            if self._setting.cancelled():
                raise RunCancelledError(
                    f"the twin run of {self.entry_point} was cancelled. Start the twin run "
                    "again to get a result"
                )
            if (ended := self._process.ended(what)) and not path.is_file():
                raise UnreachableError(ended)
            self._process.check(self.entry_point, self.into.parent)
            if time.monotonic() > self._setting.deadline + _AROUND_S:
                if not self._is_built:
                    raise BuildError(f"{self.entry_point} did not return in time")
                raise UnreachableError(
                    f"{what} did not end in time: allow a longer timeout (--timeout)"
                )
            time.sleep(_POLL_S)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if failed := found.get("failed"):
            kind = BuildError if found.get("by") == BuildError.__name__ else CaptureError
            raise kind(failed + ("" if self._process.jars else jars_hint(failed)))
        self._is_built = True
        return found
