"""Repartition topics: records in one whose name has no consumers any more are lost."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from headgate.model.kafka_streams import Repartition, StreamsStore
from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.flow import Flow, Key
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.store_keys import kept

_DRAIN = (
    "Stop the producers of the inputs. Wait until the group's lag on {topic} is 0. Stop all "
    "instances, then start the new version."
)
_DRAIN_OR_NAME = (
    f"{_DRAIN} Or keep the topic's current name (Grouped.as, Repartitioned.as, "
    "StreamJoined.withName)."
)


_IS_EVERYTHING_IN_PROCESSED = "Are all records in {topic} processed when the old version stops?"


@streams_rule(
    "KST020",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_DRAIN_OR_NAME,),
    questions=(_IS_EVERYTHING_IN_PROCESSED,),
)
def repartition_moved(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams finds a repartition topic by its exact name. Under a new name, the new version
    reads a different topic.

    Records that are still in the old topic are lost: the group has already committed the offsets of
    the input records that they come from.
    """
    topics = _Topics(c)
    for old in topics.gone:
        now = topics.moved_to(old)
        if now is not None or (topics.store_remains(old) and not topics.merged(old)):
            yield _in_flight(c, old, now)


def _in_flight(c: StreamsComparison, old: Repartition, now: Repartition | None) -> RuleResult:
    waiting = records_waiting(c, old)
    outcome = {0: Outcome.RESUMES, None: Outcome.UNKNOWN}.get(waiting, Outcome.SILENTLY_WRONG)
    changed = (
        f"{now.name} replaces the repartition topic {old.name}."
        if now
        else f"The repartition topic {old.name} was removed."
    )
    state = {0: "The old topic is empty.", None: ""}.get(
        waiting, f"Unprocessed records in the old topic: {waiting}."
    )
    return RuleResult(
        outcome=outcome,
        state_effect=StateEffect.EXACT if waiting == 0 else StateEffect.LOST,
        location=Location(old.node, now.node if now else None),
        before=old.name,
        after=now.name if now else None,
        because=f"{changed} {state}".strip(),
        question=_IS_EVERYTHING_IN_PROCESSED.format(topic=old.topic) if waiting is None else None,
        remedy=_DRAIN_OR_NAME.format(topic=old.topic),
        scenario="offline-upgrade",
    )


def records_waiting(c: StreamsComparison, old: Repartition) -> int | None:
    """Return how many records wait: by the group's lag, else 0 where all were purged."""
    if (lag := lag_on(c, old.topic)) is not None:
        return lag
    topic = c.internal.get(old.topic)
    if topic and topic.end_offsets and topic.begin_offsets == topic.end_offsets:
        return 0
    return None


def lag_on(c: StreamsComparison, topic: str) -> int | None:
    """Return the group's lag on a topic in records; None if the cluster doesn't show it."""
    if c.cluster is None or c.group is None:
        return None
    lags = [n for (name, _), n in c.cluster.lag(c.group).items() if name == topic]
    known = [n for n in lags if n is not None]
    return sum(known) if lags and len(known) == len(lags) else None


class _Topics:
    """Where the repartition topics of the old version went, each looked up but once."""

    def __init__(self, c: StreamsComparison) -> None:
        self.was, self.now = c.flow_before.senses, c.flow_after.senses
        known = {r.name for r in c.old.repartitions}
        left = {r.name for r in c.new.repartitions}
        self.gone = [r for r in c.old.repartitions if r.name not in left]
        self.shared = {n for r in c.new.repartitions if r.name in known for n in r.reads_into}
        self.behind: dict[int | None, set[int | None]] = {}
        for _, was, now in kept(c):
            self.behind.setdefault(was.subtopology, set()).add(now.subtopology)
        self.by_down: dict[Hashable, list[Repartition]] = {}
        self.by_inputs: dict[Hashable, Repartition] = {}
        for r in c.new.repartitions:
            if r.name not in known:
                down, inputs = self.now[r.name]
                self.by_down.setdefault((r.kind, down), []).append(r)
                self.by_inputs.setdefault((r.kind, inputs), r)

    def moved_to(self, old: Repartition) -> Repartition | None:
        """Return the new repartition that does what the old one did, None where there is none."""
        down, inputs = self.was[old.name]
        if likely := self.by_down.get((old.kind, down)):
            return next((r for r in likely if self.now[r.name][1] == inputs), None)
        return self.by_inputs.get((old.kind, inputs))

    def store_remains(self, old: Repartition) -> bool:
        """Say whether a store that it feeds still exists."""
        return any(n in self.behind for n in old.reads_into)

    def merged(self, old: Repartition) -> bool:
        """Say whether all stores behind it now read another repartition that was there before."""
        behind = set[int | None]().union(*(self.behind.get(n, ()) for n in old.reads_into))
        return bool(behind) and behind <= self.shared


@streams_rule(
    "KST022",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_DRAIN,),
    questions=(_IS_EVERYTHING_IN_PROCESSED,),
)
def repartition_topics_swapped(c: StreamsComparison) -> Iterator[RuleResult]:
    """Two repartition topics are swapped: the operators of each topic now use the other topic.

    The wrong operators then process the records that are still in a topic. The keys of these
    records were computed for other operators.
    """
    was, now = c.flow_before.senses, c.flow_after.senses
    both = {r.name: r for r in c.new.repartitions if r.name in was}
    at: dict[Hashable, str] = {now[name]: name for name in reversed(both)}
    for old in c.old.repartitions:
        here = both.get(old.name)
        other = at.get(was[old.name])
        if here is None or other is None or was[old.name] == now[old.name]:
            continue
        waiting = records_waiting(c, old)
        yield RuleResult(
            outcome={0: Outcome.RESUMES, None: Outcome.UNKNOWN}.get(
                waiting, Outcome.SILENTLY_WRONG
            ),
            state_effect=StateEffect.EXACT if waiting == 0 else StateEffect.MIXED,
            location=Location(old.node, here.node),
            before=old.name,
            after=other,
            because=f"The operators that used the repartition topic {old.name} now use {other}.",
            question=_IS_EVERYTHING_IN_PROCESSED.format(topic=old.topic)
            if waiting is None
            else None,
            remedy=_DRAIN.format(topic=old.topic),
            scenario="offline-upgrade",
        )


@streams_rule("KST021", outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES), remedies=(_DRAIN,))
def repartition_topics_merged(c: StreamsComparison) -> Iterator[RuleResult]:
    """Topology optimization lets several operators share one repartition topic.

    If you switch it on, the unused topic remains on the cluster. The operators continue with the
    shared topic from its committed offsets. Unprocessed records in the unused topic are lost. If
    you switch it off, an operator gets a topic of its own. Unprocessed records in the shared topic
    are lost to this operator.
    """
    topics = _Topics(c)
    for old in topics.gone:
        if topics.moved_to(old) is None and topics.merged(old):
            yield _shared(c, old, None, f"The repartition topic {old.name} is no longer needed.")
    known = {r.name: r for r in c.old.repartitions}
    for _, was, now in kept(c):
        left = _fed_through(c.flow_before, was) - _fed_through(c.flow_after, now)
        come = _fed_through(c.flow_after, now) - known.keys()
        for old in (known[name] for name in sorted(left) if c.flow_after.senses.get(name)):
            if come:
                new = ", ".join(sorted(come))
                because = (
                    f"The store {now.name} got its records from the repartition topic {old.name}, "
                    f"and now gets them from {new}."
                )
                yield _shared(c, old, new, because)


def _shared(c: StreamsComparison, old: Repartition, new: str | None, because: str) -> RuleResult:
    waiting = records_waiting(c, old)
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG if waiting else Outcome.RESUMES,
        state_effect=StateEffect.LOST if waiting else StateEffect.EXACT,
        location=Location(old.node, None),
        before=old.name,
        after=new,
        because=because + (f" Unprocessed records in the old topic: {waiting}." if waiting else ""),
        remedy=_DRAIN.format(topic=old.topic),
        scenario="offline-upgrade",
    )


def _fed_through(flow: Flow, store: StreamsStore) -> set[str]:
    """Return the nearest repartitions above the operator that fills a store."""
    names = {k: r.name for r in flow.app.repartitions for k in flow.all_named(r.sources)}
    ahead, seen, found = [*flow.users(store)[:1]], set[Key](), set[str]()
    while ahead:
        key = ahead.pop()
        if key in names:
            found.add(names[key])
        elif key not in seen:
            seen.add(key)
            ahead.extend(flow.above[key])
    return found
