"""The lock of a pipeline's restore points: only one process at a time makes or removes them."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.errors import UnreachableError
from headgate.text.private_files import private_folder
from headgate.usecases.context import Context

_WAIT_SECONDS = 20.0


@contextmanager
def locked(context: Context, pipeline: str) -> Iterator[None]:
    """Hold the lock of a pipeline's restore points; UnreachableError if another process has it."""
    folder = context.home / "restore-points"
    private_folder(folder)
    path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', pipeline)}.lock"
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    deadline = time.monotonic() + _WAIT_SECONDS
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise UnreachableError(
                        f"another process is changing the restore points of {pipeline}. "
                        "Wait until this process has finished, then try again"
                    ) from None
                time.sleep(0.1)
        yield
    finally:
        os.close(handle)
