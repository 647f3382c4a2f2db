"""A topology as a group of the streams protocol registers it with the broker (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.model.kafka_streams import StreamsApplication


@dataclass(frozen=True, slots=True)
class Registered:
    """One sub-topology: what it reads, and its internal topics. Sinks and operators are no part."""

    inputs: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    repartitions: frozenset[str] = frozenset()
    changelogs: frozenset[str] = frozenset()


PARTS = {
    "inputs": "input topics",
    "writes": "repartition topics written",
    "repartitions": "repartition topics read",
    "changelogs": "changelogs",
}


def registered(app: StreamsApplication, unlogged: frozenset[str]) -> Mapping[int, Registered]:
    """Return the sub-topologies by number; `unlogged` are changelogs that do not exist."""
    numbers = {p.subtopology for p in app.processors} - {
        s.subtopology for s in app.sources if s.is_global
    }
    return {number: _one(app, number, unlogged) for number in sorted(numbers)}


def _one(app: StreamsApplication, number: int, unlogged: frozenset[str]) -> Registered:
    sources = [s for s in app.sources if s.subtopology == number and not s.is_global]
    logs = {s.changelog for s in app.stores if s.changelog and s.subtopology == number}
    return Registered(
        inputs=frozenset(t for s in sources for t in s.topics)
        | {f"/{s.pattern}/" for s in sources if s.pattern},
        writes=frozenset(r.topic for r in app.repartitions if number in r.writes_from),
        repartitions=frozenset(r.topic for r in app.repartitions if number in r.reads_into),
        changelogs=frozenset(logs) - unlogged,
    )


def differences(
    before: Mapping[int, Registered], after: Mapping[int, Registered]
) -> dict[int, tuple[str, ...]]:
    """Return what differs, by sub-topology: words of `PARTS`."""
    out: dict[int, tuple[str, ...]] = {}
    for number in sorted(before.keys() | after.keys()):
        was, now = before.get(number, Registered()), after.get(number, Registered())
        words = tuple(
            word for part, word in PARTS.items() if getattr(was, part) != getattr(now, part)
        )
        if words:
            out[number] = words
    return out
