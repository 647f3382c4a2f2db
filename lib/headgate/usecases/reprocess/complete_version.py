"""Complete the observed version of a running query with the capture of its code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headgate.model.version import Source, Version

if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.sqlite_reader import SqliteReader


def complete_version(store: Store | SqliteReader, pipeline: str) -> Version | None:
    """Return the version that was observed last, with the facts that only the newest capture has.

    A checkpoint shows neither the sink nor the options of sources. A capture that reads other
    topics belongs to another query, so it isn't used.
    """
    version = store.versions.running(pipeline)
    if version is None or version.streams is not None:
        return version
    # A checkpoint has a sink, but nothing of it.
    if version.sink is not None and version.sink.format is not None:
        return version
    captured = store.versions.captured(pipeline)
    if captured is None or not _reads_the_same(version, captured):
        return version
    stateful = version.stateful if version.stateful is not None else captured.stateful
    has_options = any(s.options for s in version.sources or ())
    sources = version.sources if has_options else captured.sources or version.sources
    return replace(version, sink=captured.sink, stateful=stateful, sources=sources)


def _reads_the_same(version: Version, captured: Version) -> bool:
    known = _topics(version.sources or ())
    return not known or known == _topics(captured.sources or ())


def _topics(sources: tuple[Source, ...]) -> set[str]:
    return {t for s in sources for t in (*s.topics, *(s.offsets or {}))}
