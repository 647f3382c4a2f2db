"""What was read of a checkpoint's open state, kept until the query has done another batch."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from headgate.errors import StepError
from headgate.gateway.checkpoint.folders import write_file
from headgate.model.open_state import OpenStore

_FOLDER = "open-state"


def kept(home: Path, checkpoint: Path, batch: int) -> tuple[OpenStore, ...] | None:
    """Return what was read of the state after this very commit, None if nothing was."""
    try:
        document = json.loads(_file(home, checkpoint).read_text())
        if document["of"] != _commit(checkpoint, batch):
            return None
        return tuple(OpenStore(**row) for row in document["stores"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(home: Path, checkpoint: Path, batch: int, stores: tuple[OpenStore, ...]) -> None:
    """Keep it, and drop what was read before; without a writable home nothing is kept."""
    with suppress(OSError, StepError):
        document = {"of": _commit(checkpoint, batch), "stores": [asdict(s) for s in stores]}
        write_file(_file(home, checkpoint), json.dumps(document) + "\n")


def _file(home: Path, checkpoint: Path) -> Path:
    name = hashlib.sha256(str(checkpoint).encode()).hexdigest()[:16]
    return home / _FOLDER / f"{name}.json"


def _commit(checkpoint: Path, batch: int) -> list[object]:
    """Return what identifies one commit: a state never changes after its own."""
    told = (checkpoint / "commits" / str(batch)).stat()
    query = (checkpoint / "metadata").read_text()
    return [str(checkpoint), query, batch, told.st_mtime_ns, told.st_size]
