"""Become a program that dies with its parent: `child_program.py PARENT_PID PROGRAM ARGUMENT...`.

The kernel kills the program with SIGKILL when its parent ends, however the parent ended; the
setting survives `exec`. A program of its own, because code between fork and exec of a process with
threads may deadlock. It imports nothing of the package, so that it costs hundredths of a second.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int, sign: int = signal.SIGKILL) -> None:
    """Ask the kernel for `sign` at the parent's end (Linux; elsewhere nothing happens).

    The parent is the thread that started this process. Where it is gone already, exit.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(sign))
    if os.getppid() != parent:
        sys.exit(1)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as error:
        sys.exit(f"{sys.argv[2]}: {error.strerror}")
