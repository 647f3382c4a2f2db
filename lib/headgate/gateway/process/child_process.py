"""One child process with its whole process group: start it, stop it, kill what it left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from headgate.text.private_files import log_file

_CHILD = Path(__file__).with_name("child_program.py")
_LOG_LIMIT = 4_000_000
# Less than a new store and the first lines of a log take.
_NO_SPACE = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is to be started; `log` gets its output, `grace` is the time it has to stop, in s.

    `env` is added to ours, or is all that it has where it `inherits` nothing.
    """

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    inherits: bool = True
    cwd: Path | None = None
    grace: float = 10.0


@dataclass(slots=True)
class Child:
    """A started program. `asked` says that somebody wanted it to end."""

    program: Program
    process: subprocess.Popen[bytes]
    asked: bool = False

    @property
    def running(self) -> bool:
        """Whether the program itself still runs."""
        return self.process.poll() is None

    def ask(self) -> None:
        """Ask the program, not its children, to end; it is to stop them in its own order."""
        self.asked = True
        if self.running:
            self.process.terminate()

    def finish(self, grace: float | None = None) -> int:
        """Wait for at most `grace` seconds, kill what is left, return the exit code."""
        self.asked = True
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(self.program.grace if grace is None else grace)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()

    def last_words(self) -> str:
        """Return the last line of its log, for a message; a full disk keeps none and is named."""
        said = last_line(self.program.log)
        return "; ".join(filter(None, (said, full_disk(self.program.log.parent))))


def launch(program: Program) -> Child:
    """Start the program in a process group of its own; it dies with the calling thread."""
    _trim(program.log)
    with log_file(program.log) as log:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CHILD), str(os.getpid()), *program.argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**(os.environ if program.inherits else {}), **program.env},
            cwd=program.cwd,
            process_group=0,
        )
    return Child(program, process)


def last_line(log: Path) -> str:
    """Return the last line of a log that is not blank, "" where there is none."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 8192))
        lines = [text for raw in file.readlines() if (text := raw.decode(errors="replace").strip())]
        return lines[-1] if lines else ""
    return ""


def full_disk(folder: Path) -> str:
    """Say that the file system of a folder has no space left, "" if it has some."""
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
        if free < _NO_SPACE:
            return f"only {free >> 10} KiB left on the disk of {folder}: free disk space"
    return ""


def descendants(pid: int) -> list[int]:
    """Return the ids of the living processes below `pid`, from /proc; [] where there is none."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # `pid (name) state parent ...`, and a name may hold anything.
            state, parent, *_ = stat.read_text(errors="replace").rpartition(")")[2].split()
            if state != "Z":
                parents.setdefault(int(parent), []).append(int(stat.parent.name))
    found, queue = [], [pid]
    while queue:
        below = parents.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _trim(log: Path) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size > _LOG_LIMIT:
            log.replace(log.with_suffix(".old" + log.suffix))
