"""Pairs of sources that the engine gets to compare at all."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Source, Version
from headgate.rules.core.match_operators import SourcePair, logged_sources
from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import names_count, names_unclear


def judged_pairs(c: Comparison) -> Iterator[SourcePair]:
    """Yield pairs with both sides; none where the engine stops at the number of sources."""
    old, new = logged_sources(c.before), logged_sources(c.after)
    if names_unclear(c.before, c.after):
        return
    if len(old) == len(new) or names_count(c.before, c.after):
        yield from (p for p in c.sources if p.before is not None and p.after is not None)


def had_data(version: Version, source: Source) -> bool | None:
    """Say whether the newest logged batch took data from this source; None where unknown.

    Spark asks the source for that batch once more when it restarts.
    """
    if source.advanced is not None:
        return source.advanced
    progress = version.progress
    if progress is None or progress.last_batch_empty is None:
        return None
    return not progress.last_batch_empty
