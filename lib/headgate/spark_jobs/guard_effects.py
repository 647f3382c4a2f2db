"""Keep a version's code from reaching anything outside its scratch folder.

Python reports connections, writes and started programs to audit hooks before they happen. A library
in C that opens its own sockets (librdkafka, libpq) reports nothing, so credentials are withheld as
well; nor does `os.mkfifo`.

Spark also starts this module instead of `pyspark.daemon` (`spark.python.daemon.module`): the
workers that run user functions are forks of it, so they have its guard.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError

_LOOPBACK = ("127.", "::1", "localhost")
# They talk to the JVM of this process.
_BRIDGES = (f"{os.sep}py4j{os.sep}", f"{os.sep}pyspark{os.sep}")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# The arguments of each event that are paths.
_CHANGES = {
    "os.mkdir": 1, "os.remove": 1, "os.rename": 2, "os.rmdir": 1, "os.truncate": 1,
    "os.link": 2, "os.symlink": 2, "os.chmod": 1, "os.chown": 1, "os.utime": 1, "os.setxattr": 1,
    "sqlite3.connect": 1,
}  # fmt: skip
_ADDRESSES = {"socket.connect": 1, "socket.bind": 1, "socket.sendto": 1, "socket.sendmsg": 1}
_PROGRAMS = frozenset({
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
    "os.forkpty", "pty.spawn",
})  # fmt: skip
# Files below /dev/shm are memory that other programs see.
_DEVICES = frozenset(
    f"/dev/{name}"
    for name in ("null", "zero", "full", "tty", "random", "urandom", "stdout", "stderr")
)
# Names the folder that Python workers may write to.
SCRATCH = "HEADGATE_TWIN_SCRATCH"
_MAIN = threading.main_thread().ident
WHILE_BUILDING = "while it builds the query"


class EffectError(CaptureError, PermissionError):
    """What a function tried; code that can do without it continues."""


@dataclass
class EffectGuard:
    """Refuses connections, writes and programs while it is armed.

    In all threads but the main one it is armed for ever: the function may have started them, and
    they may outlast its call. Files below `roots` may be written. `when` says in its errors when
    the function tried.
    """

    roots: list[str] = field(default_factory=list)
    is_armed: bool = False
    when: str = WHILE_BUILDING

    def install(self) -> None:
        """Watch this process until it ends; the hook can't be removed."""
        sys.addaudithook(self._hear)

    def allow(self, folder: Path) -> None:
        """Let files below a folder be written."""
        self.roots.append(os.path.realpath(folder) + os.sep)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.is_armed and threading.get_ident() == _MAIN:
            return
        if event in _ADDRESSES:
            self._check_address(args[_ADDRESSES[event]], event.partition(".")[2])
        elif event in _PROGRAMS:
            self._check_program(args)
        elif event == "socket.getaddrinfo":
            self._check_address((args[0], args[1]))
        elif event == "open":
            path, mode, flags = args
            is_write = bool(set(mode or "") & set("wax+")) or bool((flags or 0) & _WRITES)
            self._check_path(path) if is_write else None
        elif event in _CHANGES:
            for path in args[: _CHANGES[event]]:
                self._check_path(path)

    def _check_program(self, args: tuple[Any, ...]) -> None:
        if _is_of_bridge():
            return
        name = f" {args[0]}" if args and isinstance(args[0], str) else ""
        raise EffectError(
            f"the function starts a program{name} {self.when}, but a twin run can't start "
            "programs: move the call into foreachBatch, or pass its result as a parameter"
        )

    def _check_address(self, address: Any, verb: str = "connect") -> None:
        if not isinstance(address, tuple) or _is_of_bridge():
            return
        host, port = (part.decode() if isinstance(part, bytes) else part for part in address[:2])
        if host is None or (port in (None, 0) and str(host).startswith(_LOOPBACK)):
            return
        does = "listens on" if verb == "bind" else "connects to"
        raise EffectError(
            f"the function {does} {host}:{port} {self.when}, but a twin run has no network "
            "access: connect in foreachBatch, or pass the data as a parameter"
        )

    def _check_path(self, path: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        real = os.path.realpath(os.fsdecode(path))
        if os.fsdecode(path) == ":memory:":
            return
        is_device = real in _DEVICES or real.startswith(("/dev/fd/", "/dev/pts/", "/proc/"))
        if is_device or real.startswith(tuple(self.roots)) or f"{real}{os.sep}" in self.roots:
            return
        raise EffectError(
            f"the function writes {real} {self.when}, but a twin run can write only to its "
            "scratch folder: move the write into foreachBatch"
        )


def _is_of_bridge() -> bool:
    """Whether PySpark's own code makes this connection, and not the function's."""
    return any(bridge in frame for frame in _callers() for bridge in _BRIDGES)


def _callers() -> Iterator[str]:
    """Yield the file that makes the connection, without this one and the standard `socket`."""
    frame = sys._getframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if file != __file__ and Path(file).name != "socket.py":
            yield file
            return
        frame = frame.f_back  # type: ignore[assignment]


def serve_workers() -> None:
    """Guard this process, then start Spark's Python workers until it ends."""
    from pyspark.daemon import manager

    guard = EffectGuard(when="while it processes rows")
    guard.allow(Path(os.environ[SCRATCH]))
    guard.install()
    guard.is_armed = True
    manager()


if __name__ == "__main__":
    serve_workers()
