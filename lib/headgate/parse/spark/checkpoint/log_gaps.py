"""What is wrong with a checkpoint's logs as a whole: missing, with gaps, with foreign files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from headgate.parse.spark.checkpoint.reader import Reader

_KNOWN = frozenset(("metadata", "offsets/", "commits/", "sources/", "state/"))
_MOST = 3


def log_warnings(reader: Reader, logged: Sequence[int], committed: Sequence[int]) -> list[str]:
    """Return a sentence for each thing that is not as Spark leaves it."""
    out = []
    if "metadata" not in reader.listing:
        out.append(f"{reader.source}/metadata is missing")
    if not logged:
        out.append(f"{reader.source}/offsets holds no batch")
    for folder, numbers in (("offsets", logged), ("commits", committed)):
        out.extend(_gaps(f"{reader.source}/{folder}", numbers))
        out.extend(_foreign(reader, folder, numbers))
    if logged and committed and committed[-1] > logged[-1]:
        out.append(
            f"{reader.source}/commits/{committed[-1]} has no batch in {reader.source}/offsets,"
            f" which ends at {logged[-1]}"
        )
    out.extend(_strangers(reader))
    return out


def _gaps(log: str, numbers: Sequence[int]) -> Iterator[str]:
    """Name the batches that lack; a query that tracks its progress asynchronously leaves some."""
    gaps = [(a + 1, b - 1) for a, b in pairwise(numbers) if b > a + 1]
    if gaps:
        shown = [str(a) if a == b else f"{a} to {b}" for a, b in gaps[:_MOST]]
        more = f" and {len(gaps) - _MOST} more gaps" if len(gaps) > _MOST else ""
        yield f"{log} lacks {', '.join(shown)}{more}"


def _foreign(reader: Reader, folder: str, numbers: Sequence[int]) -> Iterator[str]:
    known = set(map(str, numbers))
    names = [n for n in reader.below(folder) if n not in known]
    if names:
        yield f"{reader.source}/{folder} holds what is no batch: {_listed(names)}"


def _strangers(reader: Reader) -> Iterator[str]:
    """Name what stands beside the logs, another checkpoint for instance; it was not read."""
    top = {p for p in reader.listing if "/" not in p.rstrip("/")} - _KNOWN
    if top:
        yield f"{reader.source} holds what is no part of it: {_listed(sorted(top))}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(n.rstrip("/")[:80] for n in names[:_MOST])
    return shown + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
