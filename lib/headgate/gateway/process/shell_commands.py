"""Run registered shell commands: own process group, time limit, output to a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headgate.errors import StepError
from headgate.text.private_files import log_file

# Run before the shell: asks the kernel to end this process with the one that started it, and
# ends at once where that one is gone already. A function between fork and exec would do the
# same, but is not safe in a process with threads. `setpriv` takes an eighth of Python's time.
_SETPRIV = ("setpriv", "--pdeathsig", "KILL")
_IF_STARTED = '[ "$PPID" = "$1" ] || exit 1; exec /bin/sh -c "$2" sh'
_TIED = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv("/bin/sh", ["sh", "-c", sys.argv[2]])
"""
_TAIL = 600
_TRY_SECONDS = 10.0
MARK = "HEADGATE_COMMAND"
# An exec() takes well below a millisecond; a busy machine may stretch it.
_EXEC_READS, _EXEC_SECONDS = 200, 0.001
# Of the fields of /proc/PID/stat, counted from the one after the name.
_END_CODE, _ENV_START = 27 - 3, 50 - 3


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `code` is None where it was ended because its time was over."""

    code: int | None
    output: str


def run_command(
    command: str,
    *,
    folder: Path,
    log: Path,
    seconds: float,
    mark: str = "",
    env: Mapping[str, str] | None = None,
) -> Ended:
    """Run a shell command in `folder` and wait for its end, at most `seconds`.

    The shell dies with this process; what it left running by then does not, and is found again
    by its `mark`. Output goes to `log`, not to a pipe: what a start command leaves running holds
    it open, and a pipe would then never end.
    """
    with log_file(log) as output:
        begun = output.tell()
        try:
            process = subprocess.Popen(
                _argv(command),
                cwd=folder,
                env={**os.environ, **(env or {}), MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise StepError(
                f"`{command}` could not be run in {folder}: {error.strerror or error}"
            ) from error
        code = _wait(process, seconds)
    return Ended(code, _tail(log, begun))


def marked(mark: str) -> list[int]:
    """Return the processes that commands of this mark started and that still live.

    The mark is in their environment, which daemons inherit; another user's can't be seen.
    """
    wanted = f"{MARK}={mark}".encode()
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if _has(entry, wanted)]


def end_marked(mark: str) -> int:
    """Kill the processes of this mark and return how many there were."""
    found = marked(mark)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def _has(entry: Path, wanted: bytes) -> bool:
    try:
        return wanted in _environment(entry).split(b"\0")
    except OSError:
        return False


def _environment(entry: Path) -> bytes:
    """Return what /proc shows of its environment; OSError if the process can't be read.

    While a process replaces its program, exec() empties its environment, and sets the address of
    the new code last (fs/binfmt_elf.c, load_elf_binary). So an empty one is believed only of a
    process that has code, and whose environment ends where it starts.
    """
    for _ in range(_EXEC_READS):
        if held := (entry / "environ").read_bytes():
            return held
        (entry / "exe").readlink()  # a zombie and a kernel thread have none
        # After the name, which may hold anything: fields 3 and on of proc(5).
        fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
        start, end = fields[_ENV_START : _ENV_START + 2]
        if start == end and fields[_END_CODE] != b"0":
            break
        time.sleep(_EXEC_SECONDS)
    return b""


def _argv(command: str) -> Sequence[str]:
    if sys.platform != "linux":
        return ("/bin/sh", "-c", command)
    if _has_setpriv():
        return (*_SETPRIV, "/bin/sh", "-c", _IF_STARTED, "sh", str(os.getpid()), command)
    return (sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), command)


@cache
def _has_setpriv() -> bool:
    """Whether there is one that knows the option: BusyBox's doesn't."""
    try:
        tried = subprocess.run((*_SETPRIV, "true"), capture_output=True, timeout=_TRY_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        # Its group, not only itself: a half-done command must not go on behind our back.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _tail(log: Path, begun: int) -> str:
    with log.open("rb") as stream:
        stream.seek(begun)
        return stream.read().decode(errors="replace").strip()[-_TAIL:]
