"""One thing that is wrong with a checkpoint, and what is known of its query from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.model.version import Source
from headgate.reprocess.checkpoint.files import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointIssue:
    """`what` is one sentence; `edits` get over it, or `scenario` does where there are none.

    `risk` is what the repair does beside it, `instead` an option that makes it repairable.
    """

    code: str
    what: str
    edits: tuple[Edit, ...] = ()
    scenario: str | None = None
    risk: str | None = None
    instead: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the stored version says: the query's id, and its sources in the offset log's order.

    `drop_uncommitted`: the user wants the uncommitted batch removed, even if it looks right.
    """

    query_id: str | None = None
    sources: tuple[Source, ...] = ()
    drop_uncommitted: bool = False

    def source(self, position: int, of: int) -> Source | None:
        """Return the source at a position of a log with `of` entries; None unless it is certain."""
        if len(self.sources) != of or any(s.log_places for s in self.sources):
            return None
        return next((s for s in self.sources if s.position == position), None)
