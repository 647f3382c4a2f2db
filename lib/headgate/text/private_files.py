"""Make folders and files that only their owner reads.

Rights are set on each file. A umask of the process would be inherited by pipelines that it starts.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

_FOLDER, _FILE = 0o700, 0o600


def private_folder(path: Path) -> None:
    """Make a folder, and those above it, with mode 0700; an existing home is closed to others.

    Any other folder that is there already belongs to somebody else and stays as it is.
    """
    for folder in (*reversed(path.parents), path):
        if _is_home(folder) or not folder.exists():
            folder.mkdir(mode=_FOLDER, exist_ok=True)
            _close_to_others(folder, _FOLDER)


def _is_home(folder: Path) -> bool:
    return folder.name == ".headgate" or folder.parts[-3:] == (".local", "state", "headgate")


def private_file(path: Path) -> None:
    """Make an empty file with mode 0600, or close an existing one to others.

    No file that exists is opened: closing it would drop every lock that SQLite holds on it in this
    process (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    with suppress(FileExistsError):
        os.mknod(path, _FILE | stat.S_IFREG)
    _close_to_others(path, _FILE)


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file to write, text in UTF-8; others may not read it, whatever its mode was."""
    encoding = None if "b" in mode else "utf-8"
    opened: IO[Any] = open(path, mode, encoding=encoding, opener=_opener)  # noqa: SIM115
    _close_to_others(path, _FILE)
    return opened


def _opener(name: str, flags: int) -> int:
    return os.open(name, flags, _FILE)


def log_file(path: Path) -> IO[bytes]:
    """Open a log to append to; its folder is made."""
    private_folder(path.parent)
    return open_private(path, "ab")


def _close_to_others(path: Path, most: int) -> None:
    """Take rights away from everybody but the owner; devices and others' files stay as they are."""
    with suppress(OSError):
        found = path.stat()
        is_ours = found.st_uid == os.geteuid()
        is_plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        if is_ours and is_plain and stat.S_IMODE(found.st_mode) & ~most:
            path.chmod(stat.S_IMODE(found.st_mode) & most)
