"""Where a query's sources are, and where those of its successor are to begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

Offsets = Mapping[str, Mapping[int, int]]


class SourceKind(StrEnum):
    """What a source logs: only of the first two a new checkpoint can say where to begin."""

    KAFKA = "kafka"
    FILES = "files"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePosition:
    """One source after the newest committed batch.

    `name` is that of its folder below `sources`: its position in the query, or its own name.
    `offsets` are Kafka's, by topic and partition. Of a file source `entry` is the newest committed
    entry of its own log, -1 if there is none; `files` is how many it has read.
    """

    name: str
    kind: SourceKind
    offsets: Offsets = field(default_factory=dict)
    entry: int = -1
    files: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPosition:
    """All sources after the newest committed `batch`, None if none was committed.

    `begun` is the uncommitted batch after it. `watermark_ms` is what the committed batch left (0 if
    there is none). `operators` are the stateful ones' own words, from the output up. `pinned` are
    the settings that the newest logged batch fixes.
    """

    batch: int | None
    begun: int | None = None
    sources: tuple[SourcePosition, ...] = ()
    watermark_ms: int = 0
    operators: tuple[str, ...] = ()
    pinned: Mapping[str, str] = field(default_factory=dict)

    def source(self, name: str) -> SourcePosition | None:
        """Return the source of that name, or None."""
        return next((s for s in self.sources if s.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """Where one source of a new checkpoint begins: at `offsets`, or behind files that were read.

    `name` is that of its folder below `sources`. Files count as read that the source `files_of` of
    the old checkpoint has read up to `entry`, and that are older than `before` (Unix milliseconds).
    """

    name: str
    offsets: dict[str, dict[int, int]] = field(default_factory=dict)
    files_of: str | None = None
    entry: int = -1
    before: int | None = None

    def document(self) -> dict[str, Any]:
        """Return it as the journal keeps it; JSON has no whole numbers as keys."""
        offsets = {t: {str(p): o for p, o in parts.items()} for t, parts in self.offsets.items()}
        return {**asdict(self), "offsets": offsets}


def read_beginning(document: Mapping[str, Any]) -> Beginning:
    """Return what `Beginning.document` wrote."""
    offsets = {
        topic: {int(p): int(o) for p, o in parts.items()}
        for topic, parts in document["offsets"].items()
    }
    return Beginning(**{**document, "offsets": offsets})
