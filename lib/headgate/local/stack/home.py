"""One stack per home: a lock that the kernel frees with the process that holds it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headgate.errors import SetupError
from headgate.text.private_files import open_private

_LOCK = "up.lock"


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Hold the home's lock; SetupError where somebody else does."""
    with open_private(home / _LOCK, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SetupError(
                f"`headgate up` already runs in {home}: stop that process, or choose another "
                "folder with --home"
            ) from None
        yield


def is_held(home: Path) -> bool:
    """Whether a stack runs in that home."""
    try:
        with (home / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False
