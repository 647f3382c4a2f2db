"""Fork workers and commands from one process that has imported everything; made to be killed.

`python -m scenes.forked FOLDER` reads one JSON line for each process to fork, `{"argv": [...],
"folder", "output", "fault": {...} | null}`, and answers with its pid. Each is a real process of its
own that runs `headgate.worker.main` (argv[0] is `worker`) or the command line. Only the imports are
shared: they are most of a start's time, and a matrix of faults starts hundreds. Its exit code is
written to `<output>.code`; one that was killed writes none. Where the input ends, whatever works
below FOLDER is killed: pipelines outlive the worker that started them, but not who asks for both.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from support.waiting import PATIENCE, until

_PR_SET_PDEATHSIG = 1
_PASSES = 100


class Process:
    """A forked process."""

    def __init__(self, pid: int, output: Path) -> None:
        self.pid = pid
        self.output = output

    @property
    def state(self) -> str:
        """The kernel's letter: `T` is stopped by a signal, empty is ended."""
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return ""
        letter = text.rpartition(")")[2].split()[0]
        return "" if letter in "ZX" else letter

    @property
    def lives(self) -> bool:
        """Whether it has not ended."""
        return bool(self.state)

    @property
    def code(self) -> int | None:
        """The exit code; None while it lives and where it was killed."""
        file = self.output.with_name(self.output.name + ".code")
        return int(file.read_text()) if file.exists() else None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; fine if it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self) -> int | None:
        """Wait for its end and return its exit code, None where it was killed."""
        until(lambda: not self.lives, f"{self.output} does not end")
        return self.code


class Forks:
    """The process that forks; everything it forked, and what works below `folder`, dies with it.

    Also where this process is killed.
    """

    def __init__(self, folder: Path) -> None:
        tests = Path(__file__).parents[1]
        path = os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "scenes.forked", str(folder.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
            # Ctrl-C is for who asks: what they leave is ended when the input ends.
            start_new_session=True,
        )
        self._lock = Lock()

    def start(
        self, *argv: str, folder: Path, output: Path, fault: Mapping[str, Any] | None = None
    ) -> Process:
        """Fork a process that runs `argv`; see the module for `fault`."""
        wanted = {"argv": argv, "folder": str(folder), "output": str(output), "fault": fault}
        output.with_name(output.name + ".code").unlink(missing_ok=True)
        with self._lock:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()
            return Process(int(self._process.stdout.readline()), output)

    def close(self) -> None:
        """End it and all that it forked."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def kill_all_below(folder: Path) -> None:
    """Kill whatever has its working folder there, except this process, and what it just started."""
    for _ in range(_PASSES):
        found = _below(folder)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        time.sleep(0.02)


def _below(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (entry / "cwd").readlink().is_relative_to(folder) and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def serve(folder: Path) -> None:
    """Fork as asked until the input ends."""
    _import_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        wanted = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _be(wanted)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    kill_all_below(folder)


def _import_everything() -> None:
    import headgate.cli.commands.apply
    import headgate.cli.commands.plan
    import headgate.cli.commands.resume
    import headgate.cli.commands.undo
    import headgate.cli.main
    import headgate.usecases.reprocess.plan_scenario
    import headgate.worker.dbos_engine
    import headgate.worker.main  # noqa: F401


def _be(wanted: dict[str, Any]) -> None:
    """Become the process that is wanted; never returns."""
    code = 70
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        os.chdir(wanted["folder"])
        _redirect(wanted["output"])
        code = _run(wanted["argv"], wanted["fault"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        Path(wanted["output"] + ".code").write_text(str(code))
        os._exit(code)


def _redirect(output: str) -> None:
    handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    errors = os.open(output + ".err", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    null = os.open(os.devnull, os.O_RDONLY)
    for number, target in ((null, 0), (handle, 1), (errors, 2)):
        os.dup2(number, target)


def _run(argv: list[str], fault: dict[str, Any] | None) -> int:
    if fault is not None:
        from scenes.points import install

        install(**fault)
    if argv[0] == "worker":
        from headgate.worker.main import main as work

        return work(argv[1:])
    from headgate.cli.main import headgate

    return int(headgate.main(argv, prog_name="headgate") or 0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
