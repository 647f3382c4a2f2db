"""The shape of a rule for Kafka Streams, and what a rule sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from headgate.model.cluster import Cluster, Group
from headgate.model.kafka_streams import InternalTopic, StreamsApplication, StreamsStore
from headgate.model.version import Version
from headgate.rules.core.declared_renames import Renames
from headgate.rules.core.report import Finding
from headgate.rules.core.rule import NamedRule, Outcomes, RuleResult, Texts, declared
from headgate.rules.kafka_streams.facts.expected_partitions import (
    Counts,
    counts,
    is_explicit,
    may_set_count,
)
from headgate.rules.kafka_streams.facts.flow import Flow, Numbers
from headgate.rules.kafka_streams.facts.store_pairs import StorePair, pair_stores

MEASURED = "measured on Kafka Streams 4.3.1"
STREAMS_EXCEPTION = "org.apache.kafka.streams.errors.StreamsException"
TOPOLOGY_EXCEPTION = "org.apache.kafka.streams.errors.TopologyException"
STATE_EXCEPTION = "org.apache.kafka.streams.errors.ProcessorStateException"
CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException"


@dataclass(frozen=True)
class StreamsComparison:
    """Two versions of an application with their stores paired; rules read it and nothing else.

    `old` and `new` are the facts of both, `cluster` is Kafka as it is now, None where it was not
    asked.
    """

    before: Version
    after: Version
    old: StreamsApplication
    new: StreamsApplication
    renames: Renames = Renames()
    cluster: Cluster | None = None

    @cached_property
    def _numbers(self) -> Numbers:
        return Numbers()

    @cached_property
    def flow_before(self) -> Flow:
        """The old version's graph."""
        return Flow(self.old, self._numbers)

    @cached_property
    def flow_after(self) -> Flow:
        """The new version's graph."""
        return Flow(self.new, self._numbers)

    @cached_property
    def inputs(self) -> Mapping[str, int]:
        """Partitions of the inputs as they are when the new version starts."""
        read = {t for s in self.new.sources for t in s.topics}
        here = self.cluster.topics if self.cluster else {}
        asked = {t: len(here[t].partitions) for t in read if t in here}
        return {**self.old.inputs, **self.new.inputs, **asked}

    @cached_property
    def existing(self) -> Mapping[str, int]:
        """Partitions of the internal topics that exist, as far as they are known."""
        listed = {n: t.partitions for n, t in self.internal.items() if t.partitions}
        topics = self.cluster.topics if self.cluster else {}
        wanted = self.new.expected_topics() if topics else ()
        return {**listed, **{n: len(topics[n].partitions) for n in wanted if n in topics}}

    @cached_property
    def pinned(self) -> Mapping[str, int]:
        """Repartition topics whose number the code sets, with what they have.

        Known if the number is not what the inputs gave, and assumed of a `repartition()` that no
        changed key needs. What the broker keeps of a streams group doesn't show it: there each
        repartition topic has the number that it got, whoever decided that.
        """
        old = {r.topic for r in self.old.repartitions}
        found: dict[str, int] = {}
        for r in self.new.repartitions:
            number = self.existing.get(r.topic)
            if number is None or r.topic not in old:
                continue
            other = self.derived.topics.get(r.topic, number) != number
            if other or is_explicit(self.flow_after, r):
                found[r.topic] = number
        return found

    @cached_property
    def derived(self) -> Counts:
        """Partitions and tasks that the old version's inputs give."""
        return counts(self.flow_before, self.old.inputs, {})

    @cached_property
    def expected(self) -> Counts:
        """Partitions and tasks that the new version expects, with the inputs as they are now."""
        return counts(self.flow_after, self.inputs, self.pinned)

    @cached_property
    def maybe_pinned(self) -> Mapping[str, int]:
        """Other repartition topics whose number the code may set, with what they have."""
        old = {r.topic for r in self.old.repartitions}
        return {
            r.topic: self.existing[r.topic]
            for r in self.new.repartitions
            if r.topic in old & self.existing.keys() - self.pinned.keys()
            and may_set_count(self.flow_after, r)
        }

    @cached_property
    def expected_if_set(self) -> Counts:
        """The same if the code sets these numbers, too; empty if it can't, as joins forbid them."""
        if not self.maybe_pinned:
            return Counts()
        found = counts(self.flow_after, self.inputs, {**self.maybe_pinned, **self.pinned})
        return Counts() if found.unequal else found

    @cached_property
    def stores(self) -> tuple[StorePair, ...]:
        """Stores paired by what they mean."""
        return pair_stores(self.flow_before, self.flow_after, self.renames.stores)

    @cached_property
    def internal(self) -> dict[str, InternalTopic]:
        """Internal topics as the old version left them, by name; empty where nobody listed them."""
        return {t.name: t for t in self.old.internal or ()}

    @cached_property
    def group(self) -> Group | None:
        """The application's group on the cluster."""
        if self.cluster is None or not self.old.application_id:
            return None
        return self.cluster.groups.get(self.old.application_id)

    def unlogged(self, store: StreamsStore) -> bool:
        """Say whether the old version's store is known to have no changelog."""
        if self.old.internal is None or not self.old.application_id or store.changelog is None:
            return False
        return store.changelog not in self.internal

    def setting(self, key: str) -> tuple[str | None, str | None]:
        """Return a setting before and after, None where it was not said."""
        return self.old.config.get(key), self.new.config.get(key)

    def on_streams_protocol(self) -> bool:
        """Say whether both versions are members of a group of the streams protocol."""
        return self.old.protocol == self.new.protocol == "streams"


StreamsCheck = Callable[[StreamsComparison], Iterable[RuleResult]]


@dataclass(frozen=True, slots=True)
class StreamsRule(NamedRule):
    """A named check of one aspect of two versions of an application.

    `is_of_state`: only the code can answer its question, so that a twin run can. Never of settings,
    topics, and records that wait in them: a twin run has none.
    """

    is_of_state: bool = False

    def run(self, comparison: StreamsComparison) -> Iterator[Finding]:
        """Yield one finding for every verdict of the check."""
        for v in self.check(comparison):
            yield v.finding(self.code, self.why, v.source or self.source)


def streams_rule(
    code: str,
    source: str = MEASURED,
    *,
    outcomes: Outcomes,
    is_of_state: bool = False,
    **texts: Texts,
) -> Callable[[StreamsCheck], StreamsRule]:
    """Turn a check into a `StreamsRule`; `texts` are `remedies` and `questions`."""
    return declared(StreamsRule, code, source, outcomes=outcomes, is_of_state=is_of_state, **texts)
