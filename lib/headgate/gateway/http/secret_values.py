"""Values that `headgate.toml` only names: of the environment, or in a file."""

from __future__ import annotations

import os
from pathlib import Path

from headgate.errors import StepError

_FILE = "file:"


def named_value(name: str, folder: Path) -> str:
    """Return the environment's value, or for `file:PATH` the file's content; StepError else."""
    if not name.startswith(_FILE):
        if name not in os.environ:
            raise StepError(
                f"environment variable {name} is not set. Set the variable for Headgate's "
                "processes, then try again"
            )
        return os.environ[name]
    path = folder / name.removeprefix(_FILE)
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StepError(f"{path} can't be read: {getattr(error, 'strerror', error)}") from None
