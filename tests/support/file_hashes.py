"""What lies in a folder, to be compared with what lies there later."""

import hashlib
from pathlib import Path


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file, by its path in the folder.

    A session that outlives its query may add a snapshot to a checkpoint at any time, so tests of
    what is kept ask whether every file of before is there still: `now.items() >= before.items()`.
    """
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.rglob("*")
        if p.is_file()
    }
