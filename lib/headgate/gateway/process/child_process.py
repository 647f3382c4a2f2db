"""One child process with its whole process group: start it, stop it, kill what it left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
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


def process_table() -> Iterator[tuple[int, list[str]]]:
    """Yield the id of each process and its fields in /proc/PID/stat from the state on.

    Nothing where there is no /proc. Processes that end meanwhile are left out.
    """
    # No glob of `*/stat`: pathlib asks for each file, and raises if the process has just ended.
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # `pid (name) state parent ...`, and a name may hold anything.
            text = (entry / "stat").read_text(errors="replace")
            if fields := text.rpartition(")")[2].split():
                yield int(entry.name), fields


def descendants(pid: int) -> list[int]:
    """Return the ids of the living processes below `pid`, from /proc; [] where there is none."""
    parents: dict[int, list[int]] = {}
    for process, (state, parent, *_) in process_table():
        if state != "Z":
            parents.setdefault(int(parent), []).append(process)
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
