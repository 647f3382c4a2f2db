"""The files of a checkpoint by relative path, and what went wrong while they were read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
_DIGITS = frozenset("0123456789")
_LONGEST = 18


@dataclass(slots=True)
class Reader:
    """`files` are contents, `listing` all names; `source` is how a warning calls the checkpoint."""

    files: Mapping[str, bytes]
    listing: frozenset[str]
    source: str
    warnings: list[str] = field(default_factory=list)
    _logs: dict[str, list[str]] = field(default_factory=dict)

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
        """Return the names below a folder, relative to it, sorted as text."""
        if not self._logs:
            # A log has thousands of names: they are sorted out once.
            for path in self.listing:
                top, _, name = path.partition("/")
                self._logs.setdefault(top, []).append(name)
        top, _, rest = folder.partition("/")
        prefix = f"{rest}/" if rest else ""
        found = self._logs.get(top, ())
        return sorted(n[len(prefix) :] for n in found if n and n.startswith(prefix))


def batches(names: Iterable[str]) -> list[int]:
    """Return the batch numbers among a log's file names, ascending; other names are passed over."""
    return sorted(int(n) for n in names if n and len(n) <= _LONGEST and _DIGITS.issuperset(n))
