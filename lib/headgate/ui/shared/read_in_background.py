"""Read evidence without holding anybody up: what is large is read in a process of its own.

Pages of all users share one interpreter; ten seconds of parsing in it would be ten seconds in
which nobody's click is answered at once.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from headgate.errors import EvidenceError, HeadgateError, UnreachableError

T = TypeVar("T")
SMALL = 4 << 20
"""Maximum bytes that this process reads. A separate process takes a second to start."""
COUNTED = 8 << 30
"""Maximum total in bytes. Headgate then stops adding up the sizes of a folder's files."""
LONGEST = 600
"""Timeout for reading evidence, in seconds."""


def read_apart(
    function: Callable[..., T], *args: Any, evidence: Sequence[str], **options: Any
) -> T:
    """Return `function(*args, **options)`, in a process of its own where `evidence` is large.

    The function, its arguments and what it returns must be picklable. Raises what it raises, as
    EvidenceError where it ran apart, and EvidenceError where it takes longer than ten minutes.
    """
    if is_small(evidence):
        return function(*args, **options)
    command = [sys.executable, "-m", __name__]
    work = pickle.dumps((function, args, options))
    try:
        ended = subprocess.run(command, input=work, capture_output=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise EvidenceError(
            f"{_names(evidence)} took longer than {LONGEST // 60} minutes to read. Run `headgate "
            "capture` on the machine that stores the evidence, and upload the result"
        ) from None
    answer = _answer(ended.stdout, evidence)
    if isinstance(answer, HeadgateError):
        raise answer
    found: T = answer
    return found


def _answer(written: bytes, evidence: Sequence[str]) -> Any:
    """Unpickle what our own child wrote; it writes nothing where the system ended it."""
    if not written:
        raise EvidenceError(
            f"{_names(evidence)} could not be read completely, probably because memory ran out. "
            "Run `headgate capture` on a machine with more memory, and upload the result"
        )
    return pickle.loads(written)


def _names(evidence: Sequence[str]) -> str:
    return ", ".join(Path(e).name or e for e in evidence)


def is_small(evidence: Sequence[str]) -> bool:
    """Return whether reading it holds nobody up."""
    return sum(map(size_of, evidence)) <= SMALL


def size_of(location: str) -> int:
    """Return the bytes of a local file or folder that reading takes in; 0 for anything else.

    A checkpoint counts for nothing: only the needed part of its state is read.
    """
    path = Path(location)
    try:
        if path.is_dir():
            return 0 if (path / "offsets").is_dir() else _total(location)
        return path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError):
        return 0


def _total(folder: str) -> int:
    """Return the sum over a folder, counted no further than is needed to call it large."""
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            total += Path(at, name).stat().st_size
            if total > COUNTED:
                return total
    return total


def _work(packed: bytes) -> bytes:
    function, args, options = pickle.loads(packed)
    try:
        return pickle.dumps(function(*args, **options))
    except UnreachableError as error:
        return pickle.dumps(UnreachableError(str(error)))
    except HeadgateError as error:
        # Errors with more than a message don't come back from a pickle.
        return pickle.dumps(EvidenceError(str(error)))


if __name__ == "__main__":
    answer = sys.stdout.buffer
    # What some library prints is no part of the answer.
    sys.stdout = sys.stderr
    answer.write(_work(sys.stdin.buffer.read()))
