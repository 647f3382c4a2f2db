"""Open a file that is only locked: a full or read-only disk is an error of ours."""

from __future__ import annotations

import os
from pathlib import Path

from headgate.errors import UnreachableError


def open_lock(path: Path) -> int:
    """Return a handle of the file, made if it is not there; UnreachableError if that fails."""
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise UnreachableError(
            f"the store's lock {path} can't be created: {error.strerror}. Check your "
            "permissions on the folder, and the free disk space"
        ) from None
