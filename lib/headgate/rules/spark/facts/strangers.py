"""Whether two versions look like versions of one pipeline at all."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Source, Version
from headgate.rules.core.source_names import family, location

_ANOTHER = "is this the checkpoint of another pipeline?"


def strangers(before: Version, after: Version) -> Iterator[str]:
    """Yield a warning where two versions have nothing in common that a change would leave.

    The verdict holds all the same, as what the engine does when the one is started on the other's
    state; but somebody may have mixed up two files.
    """
    if before.engine is not after.engine:
        return
    old, new = _reads(before), _reads(after)
    if not old or not new or old & new:
        return
    kinds = _kinds(before), _kinds(after)
    if any(kinds):
        is_other = kinds[0].isdisjoint(kinds[1])
    else:
        is_other = _families(before).isdisjoint(_families(after))
    if is_other:
        yield (
            f"The old version reads {_shown(old)}, the new one {_shown(new)}, and no state of one "
            f"is of a kind that the other has: {_ANOTHER}"
        )


def _reads(version: Version) -> set[str]:
    """Return what a version reads: topics, patterns and paths, as far as that is known."""
    return {place for s in version.sources or () for place in _places(s)}


def _places(source: Source) -> Iterator[str]:
    yield from source.topics
    yield from filter(None, (source.pattern, location(source)))


def _families(version: Version) -> set[str]:
    return {f for s in version.sources or () if (f := family(s))}


def _kinds(version: Version) -> set[str]:
    spark = {o.kind.value for o in version.stateful or ()}
    return spark | {s.name for s in (version.streams.stores if version.streams else ())}


def _shown(places: set[str]) -> str:
    first, *rest = sorted(places)
    return f"{first} and {len(rest)} more" if rest else first
