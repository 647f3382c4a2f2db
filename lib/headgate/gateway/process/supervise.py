"""Own a set of child processes: start, stop, notice deaths, and leave none behind.

Children die with this process even where it is killed (`child_program`); `close` also ends what
they started in process groups of their own: once `adopt_orphans` was called, such processes become
children of this one instead of escaping.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from headgate.gateway.process.child_process import Child, Program, descendants, launch

_PR_SET_CHILD_SUBREAPER = 36
# A killed process still has to be scheduled once to end; a busy machine takes seconds for that.
_KILL_SECONDS = 20.0


class Supervisor:
    """The children by name, in the order of their start.

    `start` is to be called from a thread that lives as long as the children are to live; `stop`
    from any.
    """

    def __init__(self) -> None:
        self._children: dict[str, Child] = {}
        self._reported: set[int] = set()
        self._adopts = False

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def adopt_orphans(self) -> None:
        """Make descendants whose parent ends children of this process (Linux)."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
            self._adopts = True

    def start(self, program: Program) -> Child:
        """Start a program; one of that name must not run."""
        if self.is_running(program.name):
            raise ValueError(f"{program.name} is already running")
        child = self._children[program.name] = launch(program)
        return child

    def child(self, name: str) -> Child | None:
        """Return the child of that name, running or not."""
        return self._children.get(name)

    def is_running(self, name: str) -> bool:
        """Whether a child of that name runs."""
        child = self._children.get(name)
        return child is not None and child.running

    def stop(self, name: str) -> int | None:
        """End one child and its process group; return its exit code, None where there is none."""
        child = self._children.get(name)
        if child is None:
            return None
        child.ask()
        return child.finish()

    def deaths(self) -> list[Child]:
        """Return the children that ended without being asked, each once; reap adopted ones."""
        if self._adopts:
            self._reap()
        ended = [c for c in self._children.values() if not c.running and not c.asked]
        fresh = [c for c in ended if c.process.pid not in self._reported]
        self._reported |= {c.process.pid for c in fresh}
        return fresh

    def close(self, last: Sequence[str] = ()) -> None:
        """End all children at once, those named in `last` after the others; never raises."""
        late = [c for c in self._children.values() if c.program.name in last]
        early = [c for c in self._children.values() if c.program.name not in last]
        for group in (early, late):
            _end(group)
        if self._adopts:
            _kill_all_below(os.getpid())

    def kill(self) -> None:
        """End everything at once, without grace."""
        for child in self._children.values():
            child.finish(0)
        if self._adopts:
            _kill_all_below(os.getpid())

    def _reap(self) -> None:
        own = {c.process.pid: c for c in self._children.values()}
        with suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if child := own.get(ended.si_pid):
                    child.process.poll()
                else:
                    os.waitpid(ended.si_pid, 0)


def _end(children: Sequence[Child]) -> None:
    for child in children:
        child.ask()
    deadline = time.monotonic() + max((c.program.grace for c in children), default=0)
    for child in children:
        child.finish(max(0.0, deadline - time.monotonic()))


def _kill_all_below(pid: int) -> None:
    deadline = time.monotonic() + _KILL_SECONDS
    while below := descendants(pid):
        for each in below:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(0.02)
