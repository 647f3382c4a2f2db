"""When to ask for a query's plan: soon after it may have changed, and seldom otherwise."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_RARELY = 60.0
# An explain text takes the JVM milliseconds to make: at most one part in 500 goes into it.
_SHARE = 500.0
_NUMBERS = re.compile(r"\d+")
_IDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(slots=True)
class PlanTurns:
    """The turns of one run; times are of `time.monotonic`.

    A batch hides the sources that had no rows, so every new set of sources with rows is a reason
    to ask; the rest is asked for once in a while.
    """

    seen: set[frozenset[int]] = field(default_factory=set)
    wanted: bool = False
    earliest: float = 0.0
    again: float = 0.0
    last: str = ""

    def is_due(self, report: Mapping[str, Any], now: float) -> bool:
        """Return whether to ask after this report."""
        fed = frozenset(i for i, s in enumerate(report.get("sources") or ()) if _rows(s))
        if fed and fed not in self.seen:
            self.seen.add(fed)
            self.wanted = True
        return now >= self.earliest and (self.wanted or (bool(fed) and now >= self.again))

    def asked(self, took: float, now: float) -> None:
        """Note what the answer cost."""
        self.wanted = False
        self.earliest = now + took * _SHARE
        self.again = now + max(_RARELY, took * _SHARE)

    def is_new(self, text: str) -> bool:
        """Return whether a plan differs from the last one in more than numbers and ids."""
        mark = hashlib.sha256(_NUMBERS.sub("", _IDS.sub("", text)).encode()).hexdigest()
        is_new, self.last = mark != self.last, mark
        return is_new


def _rows(source: Any) -> bool:
    return isinstance(source, Mapping) and bool(source.get("numInputRows"))
