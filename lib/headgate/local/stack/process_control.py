"""How other processes stop and start a pipeline of the running stack: ask the one that owns it.

The stack listens on loopback; port and a key are in a file of its home that only its user can
read. A pipeline started this way is a child of the stack: it outlives who asked, not the stack.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from headgate.gateway.process.child_process import Child, Program
from headgate.gateway.process.free_ports import LOOPBACK
from headgate.gateway.process.supervise import Supervisor
from headgate.local.stack.home import is_held

_FILE = "stack.json"
_START_LIMIT = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether it worked, whether the pipeline runs now, and one sentence."""

    ok: bool
    running: bool
    message: str


@dataclass(frozen=True, slots=True)
class Line:
    """A pipeline as process control knows it: its program, and the file that says it works."""

    program: Callable[[str | None], Program]
    ready: Path
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class _Start:
    program: Program
    started: threading.Event = field(default_factory=threading.Event)
    child: Child | None = None


def ask(home: Path, do: str, name: str, *, entry_point: str | None = None) -> Answer:
    """Ask the stack of `home` to stop or start a pipeline, or for its status; waits for the end."""
    try:
        # What a stack that was killed left may name a port that is somebody else's now.
        if not is_held(home):
            raise FileNotFoundError
        known = json.loads((home / _FILE).read_text())
        key = bytes.fromhex(known["key"])
        with Client((LOOPBACK, known["port"]), authkey=key) as connection:
            wish = {"do": do, "name": name, "entry_point": entry_point}
            connection.send_bytes(json.dumps(wish).encode())
            return Answer(**json.loads(connection.recv_bytes()))
    except (OSError, EOFError, AuthenticationError):
        # Its pipelines end with the stack, so a stop is done and a start impossible.
        message = f"the demo isn't running in {home}: start the demo with `headgate up --demo`"
        return Answer(do != "start", False, message)


def forget(home: Path) -> None:
    """Remove what a stack left that was killed."""
    (home / _FILE).unlink(missing_ok=True)


class ProcessControl:
    """Answers `ask`. Only `turn` starts programs: they die with the thread that started them."""

    def __init__(self, home: Path, supervisor: Supervisor, lines: Mapping[str, Line]) -> None:
        self._supervisor = supervisor
        self._lines = dict(lines)
        self._wanted: queue.Queue[_Start] = queue.Queue()
        self._key = secrets.token_bytes(32)
        self._listener = Listener((LOOPBACK, 0), authkey=self._key)
        self._file = home / _FILE

    def open(self) -> None:
        """Begin to answer."""
        port = self._listener.address[1]
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump({"pid": os.getpid(), "port": port, "key": self._key.hex()}, file)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop answering; what was requested and not started yet never is."""
        with suppress(OSError):
            self._listener.close()
        self._file.unlink(missing_ok=True)

    def turn(self, seconds: float) -> None:
        """Start what was requested; waits for at most `seconds`."""
        with suppress(queue.Empty):
            wanted = self._wanted.get(timeout=seconds)
            wanted.child = self._supervisor.start(wanted.program)
            wanted.started.set()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):
                continue  # Somebody without the key, or who went away.
            except OSError:
                return  # Closed.
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection[bytes, bytes]) -> None:
        with connection, suppress(OSError, EOFError):
            wish = json.loads(connection.recv_bytes())
            connection.send_bytes(json.dumps(asdict(self._answer(wish))).encode())

    def _answer(self, wish: Mapping[str, Any]) -> Answer:
        name = str(wish["name"])
        line = self._lines.get(name)
        if line is None:
            names = ", ".join(self._lines)
            return Answer(False, False, f"the demo has no pipeline {name}, only {names}")
        if wish["do"] == "status":
            running = self._supervisor.is_running(name)
            return Answer(True, running, f"{name} is {'running' if running else 'not running'}")
        with line.lock:
            if wish["do"] == "stop":
                return self._stop(name)
            return self._start(name, line, wish.get("entry_point"))

    def _stop(self, name: str) -> Answer:
        self._supervisor.stop(name)
        return Answer(True, False, f"{name} is stopped")

    def _start(self, name: str, line: Line, entry_point: str | None) -> Answer:
        if self._supervisor.is_running(name):
            return Answer(True, True, f"{name} is already running")
        wanted = _Start(line.program(entry_point))
        self._wanted.put(wanted)
        deadline = time.monotonic() + _START_LIMIT
        while time.monotonic() < deadline:
            if line.ready.exists():
                return Answer(True, True, f"{name} is running")
            if wanted.started.wait(0.1) and wanted.child and not wanted.child.running:
                return Answer(
                    False,
                    False,
                    wanted.child.last_words() or f"{name} exited right after its start",
                )
            time.sleep(0.1)
        return Answer(
            False,
            True,
            f"{name} wasn't ready within {_START_LIMIT:.0f} s: check the log {wanted.program.log}",
        )
