"""Scratch folders that never outlive their use by long: also what a killed process left goes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from headgate.errors import SetupError

_LOCK = ".lock"


@contextmanager
def scratch_folder(prefix: str, root: Path | None = None) -> Iterator[Path]:
    """Make a folder below `root` (the system's temporary folder); it is removed at the end.

    Folders of that prefix whose maker is gone without having removed them are removed first. A
    folder in use is recognized by its lock, which the system releases with its process. SetupError
    if none can be made.
    """
    root = root or Path(tempfile.gettempdir())
    _sweep(root, prefix)
    try:
        folder, lock = _made(root, prefix)
    except OSError as error:
        raise SetupError(
            f"no temporary folder can be created in {root}: {error.strerror}. Check disk space "
            "and permissions, or set TMPDIR to another folder"
        ) from error
    with lock:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _made(root: Path, prefix: str) -> tuple[Path, TextIO]:
    """Return a new folder with its lock; one that was swept before it was locked is recreated."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
        lock = (folder / _LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / _LOCK).exists():
            return folder, lock
        lock.close()


def _sweep(root: Path, prefix: str) -> None:
    """Remove the folders whose lock nobody holds; one without a lock is just being made."""
    for folder in root.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid():
                _remove_left(folder)


def _remove_left(folder: Path) -> None:
    with (folder / _LOCK).open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Under the lock: its maker, who may be about to take it, sees afterwards that it is gone.
        shutil.rmtree(folder, ignore_errors=True)
