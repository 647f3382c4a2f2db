"""A state directory of Kafka Streams: whose it is, which tasks and stores lie in it.

    DIR/APPLICATION/SUBTOPOLOGY_PARTITION/[rocksdb/]STORE
    DIR/APPLICATION/global/[rocksdb/]STORE
    DIR/APPLICATION/NAMED_TOPOLOGY/SUBTOPOLOGY_PARTITION/...      (not read)

Source: org.apache.kafka.streams.processor.internals.StateDirectory of Kafka 4.3.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import EvidenceError

_TASK = re.compile(r"(?P<sub>\d+)_(?P<partition>\d+)$")
_GLOBAL = "global"
_MARKS = ("kafka-streams-process-metadata", ".lock")
ROCKS = "rocksdb"


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """`root` is what `state.dir` names; `stores` are folders of tasks by the store's name."""

    root: Path
    application_id: str
    stores: dict[str, tuple[str, ...]]
    partitions: dict[int, int]

    @property
    def folder(self) -> Path:
        """The application's own folder."""
        return self.root / self.application_id


def read_state_directory(given: Path, application_id: str | None = None) -> StateDirectory:
    """Return what is in a state directory; `given` is `state.dir` or the application's folder.

    EvidenceError if it isn't such a directory, or holds several applications and none was named.
    """
    if not given.is_dir():
        raise EvidenceError(f"{given} is not a folder: pass a state directory of Kafka Streams")
    folder = _application(given.absolute(), application_id)
    stores: dict[str, list[str]] = {}
    partitions: dict[int, int] = {}
    for task in sorted(folder.iterdir()):
        match = _TASK.match(task.name)
        if not task.is_dir() or not (match or task.name == _GLOBAL):
            continue
        if match:
            count = int(match["partition"]) + 1
            partitions[int(match["sub"])] = max(count, partitions.get(int(match["sub"]), 0))
        for store in _stores(task):
            stores.setdefault(store, []).append(task.name)
    return StateDirectory(
        folder.parent, folder.name, {k: tuple(v) for k, v in stores.items()}, partitions
    )


def in_use(directory: StateDirectory) -> bool:
    """Whether a running application holds the directory; its lock is only checked."""
    try:
        with (directory.folder / ".lock").open("rb+") as lock:
            # Java's lock is one on the file's range, and this asks for it without waiting.
            fcntl.lockf(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.lockf(lock, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _application(given: Path, application_id: str | None) -> Path:
    if _is_application(given) and application_id in (None, given.name):
        return given
    found = [f for f in sorted(given.iterdir()) if f.is_dir() and _is_application(f)]
    named = [f for f in found if application_id in (None, f.name)]
    if len(named) == 1:
        return named[0]
    if application_id is None and found:
        names = ", ".join(f.name for f in found)
        raise EvidenceError(f"{given} has state of several applications: choose one of {names} with"
                            " --application-id")  # fmt: skip
    what = f"no state of application {application_id}" if application_id else "no application state"
    raise EvidenceError(
        f"{given} has {what}: pass the folder that `state.dir` names, or the application's "
        "folder in it"
    )


def _is_application(folder: Path) -> bool:
    names = {f.name for f in folder.iterdir()}
    return any(_TASK.match(n) or n == _GLOBAL or n == _MARKS[0] for n in names)


def _stores(task: Path) -> Iterator[str]:
    for entry in sorted(task.iterdir()):
        if not entry.is_dir():
            continue
        if entry.name == ROCKS:
            yield from (f.name for f in sorted(entry.iterdir()) if f.is_dir())
        else:
            yield entry.name
