"""Repartition topics: what waits in one under a name that nobody reads any more is lost."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.compat.report import Outcome, StateEffect, Where
from headgate.compat.rule import Verdict
from headgate.compat.streams.flow import Flow, Key
from headgate.compat.streams.rule import StreamsComparison, streams_rule
from headgate.compat.streams.rules.keys import kept
from headgate.model.streams import Repartition

_DRAIN = (
    "Stop what writes the inputs, wait until the group's lag on {topic} is 0, stop all instances, "
    "then start the new version."
)


@streams_rule("KST020")
def repartition_moved(c: StreamsComparison) -> Iterator[Verdict]:
    """Records on their way between sub-topologies wait in the repartition topic, which is found by
    its exact name. Under another name the new version reads another topic, and what still waits in
    the old one is never processed, although the input offsets say that it was."""
    for old in c.old.repartitions:
        if any(r.name == old.name for r in c.new.repartitions):
            continue
        now = _moved_to(c, old)
        if now is None and not _reader_lives_on(c, old):
            continue
        if now is None and _merged(c, old):
            continue
        yield _in_flight(c, old, now)


def _in_flight(c: StreamsComparison, old: Repartition, now: Repartition | None) -> Verdict:
    waiting = _waiting(c, old)
    outcome = {0: Outcome.RESUMES, None: Outcome.UNKNOWN}.get(waiting, Outcome.SILENTLY_WRONG)
    after = f"is now called {now.name}" if now else "is gone"
    told = {0: "It is empty.", None: ""}.get(waiting, f"{waiting} records wait in it.")
    return Verdict(
        outcome=outcome,
        state_effect=StateEffect.EXACT if waiting == 0 else StateEffect.LOST,
        where=Where(old.node, now.node if now else None),
        before=old.name,
        after=now.name if now else None,
        because=f"{old.name} {after}. {told}".strip(),
        question=f"Is everything in {old.topic} processed when the old version stops?"
        if waiting is None
        else None,
        remedy=_DRAIN.format(topic=old.topic)
        + " Name it (Grouped.as, Repartitioned.as, StreamJoined.as) as it is called now.",
        scenario="offline-upgrade",
    )


def _waiting(c: StreamsComparison, old: Repartition) -> int | None:
    """Return how many records wait: by the group's lag, else 0 where all were purged."""
    if c.cluster and c.group:
        lags = [n for (topic, _), n in c.cluster.lag(c.group).items() if topic == old.topic]
        if lags and all(n is not None for n in lags):
            return sum(n for n in lags if n is not None)
    topic = c.internal.get(old.topic)
    if topic and topic.end_offsets and topic.begin_offsets == topic.end_offsets:
        return 0
    return None


def _moved_to(c: StreamsComparison, old: Repartition) -> Repartition | None:
    """Return the new repartition that does what the old one did, None where there is none."""
    known = {r.name for r in c.old.repartitions}
    free = [r for r in c.new.repartitions if r.name not in known and r.kind is old.kind]
    was = _sense(c.flow_before, old)
    by_down = [r for r in free if _sense(c.flow_after, r)[0] == was[0]]
    return next((r for r in by_down or free if _sense(c.flow_after, r)[1] == was[1]), None)


def _sense(flow: Flow, r: Repartition) -> tuple[list[int], frozenset[str]]:
    """Return what is made of its records, and which inputs they come from."""
    sources, sinks = _keys(flow, r.sources), _keys(flow, r.sinks)
    return (
        sorted(flow.ways_down[k] for k in sources),
        frozenset[str]().union(*(flow.inputs[k] for k in sinks)),
    )


def _keys(flow: Flow, names: tuple[str, ...]) -> list[Key]:
    return [k for k in flow.nodes if k[1] in names]


def _reader_lives_on(c: StreamsComparison, old: Repartition) -> bool:
    return any(was.subtopology in old.reads_into for _, was, _ in kept(c))


def _merged(c: StreamsComparison, old: Repartition) -> bool:
    """Say whether all stores behind it now read another repartition that was there before."""
    known = {r.name for r in c.old.repartitions}
    shared = {n for r in c.new.repartitions if r.name in known for n in r.reads_into}
    behind = [now for _, was, now in kept(c) if was.subtopology in old.reads_into]
    return bool(behind) and all(now.subtopology in shared for now in behind)


@streams_rule("KST021")
def repartition_merged(c: StreamsComparison) -> Iterator[Verdict]:
    """Optimisation reads one repartition topic for several operators. The topic that is spared is
    left behind on the cluster; the operators go on with the other one from its committed offsets,
    provided that the spared one was read to its end."""
    for old in c.old.repartitions:
        gone = not any(r.name == old.name for r in c.new.repartitions)
        if gone and _moved_to(c, old) is None and _merged(c, old):
            waiting = _waiting(c, old)
            yield Verdict(
                outcome=Outcome.SILENTLY_WRONG if waiting else Outcome.RESUMES,
                state_effect=StateEffect.LOST if waiting else StateEffect.EXACT,
                where=Where(old.node, None),
                before=old.name,
                after=None,
                because=f"{old.name} is no longer needed."
                + (f" {waiting} records wait in it." if waiting else ""),
                remedy=_DRAIN.format(topic=old.topic),
                scenario="offline-upgrade",
            )
