"""Which records of which topics a job reads: from an offset to an offset, by partition."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError

_FORM = '{"TOPIC": {"PARTITION": [FROM, TO]}}'


@dataclass(frozen=True, slots=True)
class OffsetRanges:
    """Offsets by topic and partition: the first one that is read, and the one after the last."""

    parts: Mapping[str, Mapping[int, tuple[int, int]]]

    @property
    def records(self) -> int:
        """How many offsets the ranges hold; a compacted topic has fewer records."""
        return sum(end - begin for parts in self.parts.values() for begin, end in parts.values())

    def only(self, topics: Iterable[str]) -> OffsetRanges:
        """Return the ranges of these topics; CaptureError if one has none."""
        wanted = list(topics)
        if missing := [t for t in wanted if t not in self.parts]:
            raise CaptureError(
                f"the function reads topic {missing[0]}, but no offsets of this topic were given. "
                "For a plan, store the function's current version with `headgate capture "
                "MODULE:FUNCTION --pipeline PIPELINE`. For this program, add the topic to --offsets"
            )
        return OffsetRanges({t: self.parts[t] for t in wanted})

    def within(self, parts: Mapping[str, Iterable[int]]) -> OffsetRanges:
        """Return the ranges of these partitions."""
        kept = {
            t: {p: r for p, r in self.parts[t].items() if p in set(n)} for t, n in parts.items()
        }
        return OffsetRanges(kept)

    def starting(self) -> str:
        """Return `startingOffsets` for Spark."""
        return self._json(0)

    def ending(self) -> str:
        """Return `endingOffsets` for Spark."""
        return self._json(1)

    def _json(self, side: int) -> str:
        found = {t: {str(p): r[side] for p, r in parts.items()} for t, parts in self.parts.items()}
        return json.dumps(found, sort_keys=True)

    def assigned(self) -> str:
        """Return `assign` for Spark: the partitions of each topic."""
        return json.dumps({t: sorted(parts) for t, parts in sorted(self.parts.items())})


def read_ranges(text: str, option: str = "--offsets") -> OffsetRanges:
    """Return the ranges of a JSON text, or of `@FILE` with one; CaptureError if it is wrong."""
    try:
        text = Path(text[1:]).read_text("utf-8") if text.startswith("@") else text
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it isn't UTF-8 text"
        raise CaptureError(f"{option}: can't read {text[1:]}: {why}") from error
    try:
        document = json.loads(text)
        return OffsetRanges({str(t): _parts(parts) for t, parts in document.items()})
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise CaptureError(f"{option}: expected {_FORM}, found {text[:80]!r}") from error


def _parts(document: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    found = {}
    for part, (begin, end) in document.items():
        if not 0 <= int(begin) <= int(end):
            raise ValueError
        found[int(part)] = (int(begin), int(end))
    return found
