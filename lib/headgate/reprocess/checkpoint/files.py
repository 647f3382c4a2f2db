"""The small files of a checkpoint, and their content after some are removed or rewritten."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from headgate.parse.spark.checkpoint.checkpoint import batches
from headgate.parse.spark.checkpoint.commit_log import CommitLog, read_commit
from headgate.parse.spark.checkpoint.offset_log import OffsetLog, read_offsets

UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One file of a checkpoint, by its path in there: `text` is written, None removes it."""

    path: str
    text: str | None = None

    def describe(self) -> str:
        """Return it as a few words."""
        return f"remove {self.path}" if self.text is None else f"write {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFiles:
    """A checkpoint: `names` are all its files (folders end with a slash), without checksums.

    `files` are the contents of `metadata`, of the logs' newest entries and all beyond the last
    commit, of the sources' logs, and of what says how state is kept. `sink_batch` is the newest
    batch in the log of a file sink, None where there is none or it is not known.
    """

    location: str
    names: frozenset[str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    sink_batch: int | None = None

    def below(self, folder: str) -> list[str]:
        """Return the names below a folder, relative to it, sorted."""
        prefix = f"{folder}/"
        return sorted(n[len(prefix) :] for n in self.names if n.startswith(prefix) and n != prefix)

    @property
    def logged(self) -> list[int]:
        """The batches of the offset log, ascending."""
        return batches(self.below("offsets"))

    @property
    def committed(self) -> list[int]:
        """The batches of the commit log, ascending."""
        return batches(self.below("commits"))

    @property
    def last_commit(self) -> int | None:
        """The last batch that was done."""
        return max(self.committed, default=None)

    def is_torn(self, path: str) -> bool:
        """Whether a log's file was read but isn't an entry; False for a file that was not read."""
        if path not in self.files:
            return False
        log, _, batch = path.partition("/")
        entry = self.offsets(int(batch)) if log == "offsets" else self.commit(int(batch))
        return entry is None

    def offsets(self, batch: int) -> OffsetLog | None:
        """Return an entry of the offset log; None where it is missing or can't be read."""
        try:
            return read_offsets(self.files[f"offsets/{batch}"])
        except UNREADABLE:
            return None

    def commit(self, batch: int) -> CommitLog | None:
        """Return an entry of the commit log; None where it is missing or can't be read."""
        try:
            return read_commit(self.files[f"commits/{batch}"])
        except UNREADABLE:
            return None

    @property
    def digest(self) -> str:
        """A hash over the logs and `metadata`: whoever starts the query moves it."""
        whole = hashlib.sha256()
        for name in sorted(n for n in self.names if not n.startswith("state/")):
            whole.update(f"{len(name)}:{name}".encode())
            whole.update(hashlib.sha256(self.files.get(name, b"")).digest())
        return whole.hexdigest()

    def edited(self, edits: Iterable[Edit]) -> CheckpointFiles:
        """Return the checkpoint as it is after the edits."""
        names, files = set(self.names), dict(self.files)
        for edit in edits:
            if edit.text is None:
                names.discard(edit.path)
                files.pop(edit.path, None)
            else:
                names.add(edit.path)
                files[edit.path] = edit.text.encode()
        return replace(self, names=frozenset(names), files=files)
