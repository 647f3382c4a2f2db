"""Copy a checkpoint, local or remote, and detect by a hash whether the original has changed since.

Files are copied in the reverse order of a query's writing. So a commit that is in the copy has
its offsets and its state there, even if the query keeps running meanwhile.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from headgate.errors import EvidenceError, RefusedError, StepError, UnreachableError
from headgate.gateway.files.addresses import is_uri
from headgate.gateway.files.evidence_files import FileLocation, entries
from headgate.gateway.files.local import LocalFiles
from headgate.model.rehearsal import Untouched
from headgate.text.numbers import size

_BLOCK = 1 << 20
_SCHEMA_FILE = re.compile(rb'"[^"]*(/state/\d+/_stateSchema/)')
_FIRST = ("metadata", "commits", "offsets", "sources", "state")
# What a batch needs beside the copy: new state, output, Spark's own scratch files.
_SPARE = 256 << 20
Each = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Prints:
    """The SHA-256 and size of every file of a checkpoint, by its path in there."""

    files: dict[str, tuple[str, int]]

    @property
    def whole(self) -> str:
        """A hash over the names and contents of all files."""
        digest = hashlib.sha256()
        for name, (content, _) in sorted(self.files.items()):
            digest.update(f"{len(name)}:{name}:{content}\n".encode())
        return digest.hexdigest()

    @property
    def bytes(self) -> int:
        """How large all files are together."""
        return sum(size for _, size in self.files.values())

    def changed(self, other: Prints) -> tuple[str, ...]:
        """Return the files that are not in both with the same contents, by name."""
        names = self.files.keys() | other.files.keys()
        return tuple(sorted(n for n in names if self.files.get(n) != other.files.get(n)))


def read_prints(checkpoint: FileLocation) -> Prints:
    """Read every file of a checkpoint once and return their hashes; nothing is written."""
    return Prints(dict(_read(checkpoint, None)))


def compare_with_prints(checkpoint: FileLocation, before: Prints) -> Untouched:
    """Read a checkpoint again and return how it compares with what it was."""
    after = read_prints(checkpoint)
    return Untouched(
        location=checkpoint.name,
        files=len(before.files),
        bytes=before.bytes,
        before=before.whole,
        after=after.whole,
        changed=before.changed(after),
    )


def copy_checkpoint(checkpoint: FileLocation, target: Path, each: Each = lambda *_: None) -> Prints:
    """Copy every file and return the hashes of what was read; times and rights are not kept.

    `each` is called after every file with the number of files so far and their bytes; it may raise.
    A file that is gone before it is read is left out, as if a running query had cleaned it up.
    RefusedError if the disk space is too small, StepError if writing the copy fails.
    """
    target.mkdir(parents=True)
    found: dict[str, tuple[str, int]] = {}
    total = 0
    for name, print_ in _read(checkpoint, target):
        found[name] = print_
        total += print_[1]
        each(len(found), total)
    return Prints(found)


def point_to_itself(copy: Path) -> None:
    """Let the state's metadata in a copy name the copy's own schema files.

    `state/N/_metadata/v2` (transformWithState) holds them by their full address: a copy would read
    the original's, or fail where there is none. Doing it again, after the copy has moved, is fine.
    """
    point_to(copy, str(copy))


def point_to(copy: Path, location: str) -> None:
    """Let the state's metadata in a copy name schema files below `location`, its final location.

    `location` is a folder of this machine or the address of a remote one. A file that already names
    that location stays as it is, byte for byte.
    """
    address = location if is_uri(location) else f"file:{location}"
    for file in copy.glob("state/*/_metadata/**/*"):
        if not file.is_file() or file.name.startswith("."):
            continue
        text = file.read_bytes()
        own = _SCHEMA_FILE.sub(lambda found: f'"{address}{found[1].decode()}'.encode(), text)
        if own != text:
            file.write_bytes(own)
            # Its checksum is no longer the file's; without one none is checked.
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def size_of(checkpoint: FileLocation) -> int | None:
    """Return the bytes of all files; None on a remote system, which is not queried for them."""
    if not isinstance(checkpoint.files, LocalFiles):
        return None
    files = (f for f in Path(checkpoint.path).rglob("*") if f.is_file())
    return sum(f.stat().st_size for f in files)


def check_disk_space(needed: int, folder: Path) -> None:
    """Raise RefusedError if the folder's disk has no space for `needed` bytes and one batch."""
    free = shutil.disk_usage(folder).free
    if needed + _SPARE > free:
        raise RefusedError(
            f"{folder} has {size(free)} free, but a rehearsal needs "
            f"{size(needed + _SPARE)}. Free disk space, or choose another folder: with "
            "--scratch of `headgate rehearse`, or with TMPDIR for the console and the worker"
        )


def _read(checkpoint: FileLocation, target: Path | None) -> Iterator[tuple[str, tuple[str, int]]]:
    for name in _names(checkpoint):
        found = _one(checkpoint.below(name), target / name if target else None)
        if found is not None:
            yield name, found


def _names(checkpoint: FileLocation) -> Iterator[str]:
    found = {e.name: e.is_folder for e in entries(checkpoint)}
    order = [*(n for n in _FIRST if n in found), *sorted(found.keys() - set(_FIRST))]
    for name in order:
        yield from _below(checkpoint, name) if found[name] else (name,)


def _below(checkpoint: FileLocation, folder: str) -> Iterator[str]:
    for entry in entries(checkpoint, folder):
        path = f"{folder}/{entry.name}"
        yield from _below(checkpoint, path) if entry.is_folder else (path,)


def _one(file: FileLocation, target: Path | None) -> tuple[str, int] | None:
    """Hash a file, and copy it where a target is given; None where it is gone."""
    try:
        with file.files.opened(file.path) as stream:
            return _through(stream, target)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise EvidenceError(
            f"no permission to read {file.name}: {error.strerror or error}"
        ) from error
    except OSError as error:
        step = "" if is_uri(file.name) else ". Check the disk or mount, then try again"
        raise UnreachableError(
            f"{file.name} can't be read: {error.strerror or error}{step}"
        ) from error


def _through(stream: BinaryIO, target: Path | None) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with ExitStack() as stack:
        out = stack.enter_context(_writing(target)) if target else None
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
            if out is not None:
                out(block)
    return digest.hexdigest(), size


@contextmanager
def _writing(target: Path) -> Iterator[Callable[[bytes], object]]:
    """Open a file of the copy and yield what writes into it."""

    def write(block: bytes) -> None:
        rest = memoryview(block)
        try:
            while rest:
                rest = rest[opened.write(rest) :]
        except OSError as error:
            raise _failed(target, error) from error

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer: what a full disk says is said of this write, and not again at the end.
        opened = target.open("wb", buffering=0)
    except OSError as error:
        raise _failed(target, error) from error
    with opened:
        yield write


def _failed(target: Path, error: OSError) -> StepError:
    return StepError(
        f"{target} could not be written, so the copy is incomplete: {error.strerror}. "
        "Check disk space and permissions, then try again"
    )
