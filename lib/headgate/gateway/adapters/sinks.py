"""What plans and runs ask of a query's sink that keeps files, and do to its log."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from headgate.gateway.adapters.checkpoints import check_named
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint import spark_metadata
from headgate.gateway.checkpoint.folders import local_path, tree_hash
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.files.evidence_files import find, names
from headgate.model.restore_points import SinkLog
from headgate.parse.spark.checkpoint.spark_metadata import FOLDER


class SinkAdapter:
    """File sinks, whose folders have a log of batches."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def exists(self, folder: str) -> bool:
        """Return whether a local folder is there."""
        return Path(folder).is_dir()

    def content_hash(self, folder: str) -> str | None:
        """Return a hash over the files of a local folder, None if it isn't there."""
        return tree_hash(Path(folder), whole=False)

    def can_write(self, folder: str) -> bool:
        """Return whether Headgate may make files in a local folder."""
        return Path(folder).is_dir() and os.access(folder, os.W_OK | os.X_OK)

    def system_folder(self, folder: str, known: Mapping[str, str]) -> str | None:
        """Return what a folder is, contains or is inside of that is a system's."""
        path = Path(folder).resolve()
        for text, what in known.items():
            if is_remote(text):
                continue
            other = self._local(text)
            if path == other or path in other.parents or other in path.parents:
                return what
        return _recognised([path, *path.parents]) or _recognised(_below(path))

    def log(self, target: str, batch: int, kept: str | None = None) -> SinkLog | None:
        """Return a file sink's log seen from the end of `batch`, None where there is none."""
        return spark_metadata.read_sink_log(self._local(target), batch, _path(kept))

    def newest_batch(self, target: str) -> int | None:
        """Return the newest batch in a file sink's log, None if the folder has no log."""
        if not is_remote(target):
            return spark_metadata.newest_batch(self._local(target))
        place = find(target, self._context.registry.file_systems)
        return spark_metadata.newest_of(names(place, FOLDER)) if place and place.is_folder else None

    def later_files(self, target: str, batch: int, kept: str | None = None) -> list[str]:
        """Return the output files, relative to the folder, of the sink's later batches."""
        return list(spark_metadata.later_files(local_path(target), batch, _path(kept)))

    def copy_log(self, target: str, batch: int, to: str, kept: str | None = None) -> None:
        """Make `to` the sink's log as it was at the end of `batch`."""
        check_named(to)
        spark_metadata.copy_sink_log(local_path(target), batch, Path(to), _path(kept))

    def _local(self, target: str) -> Path:
        path = local_path(target) if urlsplit(target).scheme else self._context.folder / target
        return path.resolve()


def _path(kept: str | None) -> Path | None:
    return Path(kept) if kept else None


_SYSTEM = {
    "_spark_metadata": "the output of a streaming query",
    "_delta_log": "a Delta table",
    "offsets": "a checkpoint",
}
_MOST_FOLDERS = 2_000


def _recognised(folders: Iterable[Path]) -> str | None:
    for folder in folders:
        for name, what in _SYSTEM.items():
            # Other folders are named so as well; only a checkpoint has both.
            is_real = name != "offsets" or (folder / "metadata").is_file()
            if is_real and (folder / name).is_dir():
                return f"{what} ({folder})"
    return None


def _below(folder: Path) -> Iterator[Path]:
    """Yield the folders below, the first thousands of them."""
    walked = (Path(root) for root, _, _ in os.walk(folder))
    yield from itertools.islice(walked, _MOST_FOLDERS)
