"""The values of one twin run of Kafka Streams: what every start wrote, and what it left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Output = tuple[bytes | None, bytes | None]
Entry = tuple[int, bytes]
How = Literal["resumes", "refuses", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start: `causes` are `class: message` of a refusal, `stage` how far it came.

    `outputs` are keys and values by topic, in the order of each partition. `stores` are the live
    keys of each changelog afterwards, by the store's name, and `updates` its new records.
    """

    how: How
    causes: tuple[str, ...] = ()
    stage: str = ""
    question: str | None = None
    outputs: Mapping[str, Sequence[Output]] = field(default_factory=dict)
    stores: Mapping[str, Mapping[Entry, bytes]] = field(default_factory=dict)
    updates: Mapping[str, int] = field(default_factory=dict)


NONE = Start(how="unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsExperiment:
    """A are the records before the restart, B those after it.

    `before_a` is the old version over A; `resumed` replaces it, the new one over B. `after_a` and
    `own` are the new version over A and B from scratch, `again_a` and `again` that once more.
    `bare` is the new version over B at the old one's offsets, without any state. `again` and `bare`
    are only there if `resumed` and `own` differ. `names` are the stores of the old and of the new
    version, `sinks` the topics that the new one writes by name. `is_sampled`: no key or value may
    be shown.
    """

    before_a: Start = NONE
    after_a: Start = NONE
    resumed: Start = NONE
    own: Start = NONE
    again_a: Start | None = None
    again: Start | None = None
    bare: Start | None = None
    names: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    sinks: frozenset[str] = frozenset()
    is_sampled: bool = False

    @property
    def differs(self) -> bool:
        """Whether the outputs of B differ: then `bare` and `again` are to be made."""
        return any(sorted_rows(self.resumed, t) != sorted_rows(self.own, t) for t in self.topics)

    @property
    def topics(self) -> list[str]:
        """Return every topic that any start wrote."""
        starts = (self.before_a, self.after_a, self.resumed, self.own)
        return sorted({t for s in starts for t in s.outputs})


def sorted_rows(start: Start, topic: str) -> list[Output]:
    """Return a topic's outputs as a multiset."""
    return sorted(start.outputs.get(topic, ()), key=repr)


def last_rows(topic: str, *starts: Start) -> dict[bytes | None, bytes | None]:
    """Return the last value of each key over several starts."""
    return {key: value for start in starts for key, value in start.outputs.get(topic, ())}
