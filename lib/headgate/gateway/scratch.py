"""Scratch folders that never outlive their use by long: also what a killed process left goes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headgate.errors import SetupError

_LOCK = ".lock"


@contextmanager
def scratch_folder(prefix: str, root: Path | None = None) -> Iterator[Path]:
    """Make a folder below `root` (the system's place for temporary files); it goes at the end.

    Folders of that prefix whose maker is gone without having removed them are removed first: a
    lock, which the system gives up with its process, tells them from those in use. SetupError
    where none can be made.
    """
    root = root or Path(tempfile.gettempdir())
    _sweep(root, prefix)
    try:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
    except OSError as error:
        raise SetupError(f"no scratch folder can be made in {root}: {error.strerror}") from error
    try:
        with (folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(root: Path, prefix: str) -> None:
    for folder in root.glob(f"{prefix}*"):
        if _is_left(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether nobody holds the folder's lock; one without a lock is just being made."""
    try:
        if folder.stat().st_uid != os.getuid():
            return False
        with (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
