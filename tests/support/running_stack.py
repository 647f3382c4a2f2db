"""A running `headgate up --demo`, for tests that drive it from outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from headgate.gateway.process.child_process import descendants
from headgate.local.demo.pipelines import PIPELINES
from support.waiting import PATIENCE, until

# What ends only because its own work is done would take longer.
_SOON = 60.0


class Stack:
    """A running `headgate up --demo`, its output, and every process that it ever had."""

    def __init__(self, home: Path, *more: str, python: str = sys.executable) -> None:
        self.home, self.seen = home, set()
        self.output = home.parent / f"{home.name}.out"
        with self.output.open("w") as out:
            argv = [python, "-m", "headgate.cli.main", "up", "--demo", "--home", str(home)]
            self.process = subprocess.Popen([*argv, *more], stdout=out, stderr=out)

    def wait(self, true, seconds: float = PATIENCE):
        def found():
            self.look()
            assert self.process.poll() is None, self.output.read_text()
            return true()

        return until(found, self.output.read_text, every=0.2, seconds=seconds)

    def look(self) -> None:
        found = {pid: begun(pid) for pid in descendants(self.process.pid)}
        self.seen |= {(pid, start) for pid, start in found.items() if start}

    def said(self, word: str) -> str | None:
        lines = self.output.read_text().splitlines()
        return next((x.split()[1] for x in lines if x.startswith(word)), None)

    def address(self, word: str) -> str:
        return self.wait(lambda: self.said(word))

    def control(self, do: str, name: str, *more: str) -> subprocess.CompletedProcess:
        argv = [sys.executable, "-m", "headgate.local.demo.control", do, name]
        argv += ["--home", str(self.home), *more]
        return subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)

    def works(self) -> bool:
        return all((p.ready(self.home)).exists() for p in PIPELINES)

    def end(self, sign: int) -> int:
        """Send the signal; every process that there ever was must be gone soon after."""
        self.look()
        self.process.send_signal(sign)
        code = self.process.wait(PATIENCE)
        # A killed stack takes its children along at once; Spark's JVMs notice a moment later, and
        # what has been killed is there until the kernel has freed its memory.
        until(lambda: not self.left(), self.left, seconds=_SOON)
        return code

    def left(self) -> list[str]:
        """The processes that still live, by id, start and command."""
        return [f"{pid} {words(pid)}" for pid, start in self.seen if begun(pid) == start]


def begun(pid: int) -> str | None:
    """When the process started, in the kernel's ticks; None if it has ended.

    Its id alone says nothing: ids are used again within minutes while many tests run.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]


def words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
