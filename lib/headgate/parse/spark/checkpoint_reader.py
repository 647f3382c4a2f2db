"""The files of a checkpoint by relative path, and what went wrong while they were read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
_BATCH = re.compile(r"[0-9]{1,18}", re.ASCII)


@dataclass(slots=True)
class Reader:
    """`files` are contents, `listing` all names; `source` is how a warning calls the checkpoint."""

    files: Mapping[str, bytes]
    listing: frozenset[str]
    source: str
    warnings: list[str] = field(default_factory=list)

    def read(self, path: str, parse: Callable[[bytes], T]) -> T | None:
        """Parse one file; None with a warning where it is missing, half-written or corrupt."""
        data = self.files.get(path)
        if data is None:
            return None
        try:
            return parse(data)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as e:
            reason = " ".join(str(e).split())[:120] or type(e).__name__
            self.warn(f"{self.source}/{path} can't be read: {reason}")
            return None

    def warn(self, warning: str) -> None:
        """Keep a warning, once."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    def below(self, folder: str) -> list[str]:
        """Return the names below a folder, relative to it, sorted."""
        prefix = f"{folder}/"
        return sorted(p[len(prefix) :] for p in self.listing if p.startswith(prefix))


def batches(names: Iterable[str]) -> list[int]:
    """Return the batch numbers among a log's file names, ascending; other names are passed over."""
    return sorted(int(n) for n in names if _BATCH.fullmatch(n))
