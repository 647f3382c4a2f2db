"""What a remote file system says of a file, and a hash over what it says of many."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stored:
    """A file or an object: size in bytes, when it was written (ms since 1970), None if unknown."""

    size: int
    written: int | None


def stored_hash(files: Mapping[str, Stored]) -> str:
    """Return SHA-256 over names, sizes and times of writing.

    An object is never edited, only overwritten, with another time: the same hash means the same
    objects. It says nothing of a copy, whose times are its own.
    """
    whole = hashlib.sha256()
    for name, one in sorted(files.items()):
        whole.update(f"{len(name)}:{name}:{one.size}:{one.written}\n".encode())
    return whole.hexdigest()
