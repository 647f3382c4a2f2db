"""suppress(): what its buffer holds back, or never gets."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.flow import Flow, Key
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.store_keys import kept

_LET_STREAM_TIME = (
    "First send records with later timestamps, until stream time has passed the end and grace "
    "period of every open window and the buffer is empty. Then stop all instances and upgrade."
)


@streams_rule("KST004", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_LET_STREAM_TIME,))
def suppression_removed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Results that suppress() holds back at the upgrade are only in its buffer store.

    Without the operator nothing reads the buffer, and these results are never published.
    """
    left = {(s.topology, s.name) for s in c.new.stores}
    for pair in c.stores:
        was = pair.before
        if was is None or pair.after or (was.topology, was.name) in left:
            continue
        if is_buffer(c.flow_before, was):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                location=pair.location,
                before=was.name,
                after=None,
                because=f"suppress() with the buffer {was.name} was removed.",
                remedy=_LET_STREAM_TIME,
                scenario="offline-upgrade",
            )


def is_buffer(flow: Flow, store: StreamsStore) -> bool:
    """Say whether a store is the buffer of a suppress()."""
    return any(flow.nodes[k].operator == "suppress" for k in flow.users(store))


_CLOSE_THE_WINDOWS = (
    "First send records with later timestamps, until the old version's stream time has passed the "
    "end and grace period of every open window. Then stop all instances and upgrade. Or replay the "
    "inputs under a new application id."
)
_IS_IT_WINDOWED = (
    "Is the store {table} a window or session store with open windows? If so, the results of "
    "windows that get no more records are never published."
)


@streams_rule(
    "KST009",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_CLOSE_THE_WINDOWS,),
    questions=(_IS_IT_WINDOWED,),
)
def suppression_added(c: StreamsComparison) -> Iterator[RuleResult]:
    """A new suppress() knows only windows that get a record after the start. Its buffer starts
    empty and isn't filled from the window store.

    Windows that are open at the upgrade and get no more records are never published as final
    results. An output that has no earlier updates of these windows lacks their results. If an
    output already has the earlier updates, each window's last row is correct. Operators after
    suppress() process final results in addition to the earlier updates.
    """
    same = {(now.topology, now.name): was for _, was, now in kept(c)}
    for pair in c.stores:
        buffer = pair.after
        if buffer is None or pair.before is not None or not is_buffer(c.flow_after, buffer):
            continue
        suppress = c.flow_after.users(buffer)[0]
        for table in _held_back(c.flow_after, suppress):
            was = same.get((table.topology, table.name))
            windowed = _is_windowed(c, was) if was else False
            missing = _lacking(c, was, suppress, buffer) if was else ""
            if missing and windowed is not False:
                yield _half_of_them(pair.location, buffer, table, missing, bool(windowed))


def _half_of_them(
    location: Location, buffer: StreamsStore, table: StreamsStore, missing: str, windowed: bool
) -> RuleResult:
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG if windowed else Outcome.UNKNOWN,
        state_effect=StateEffect.LOST,
        location=location,
        before=None,
        after=buffer.name,
        because=(
            f"The operator suppress() after the store {table.name} is new, and its buffer "
            f"{buffer.name} starts empty. These outputs and stores get only results that a new "
            f"record changes: {missing}."
        ),
        question=None if windowed else _IS_IT_WINDOWED.format(table=table.name),
        remedy=_CLOSE_THE_WINDOWS,
        scenario="offline-upgrade",
    )


def _held_back(flow: Flow, suppress: Key) -> Iterator[StreamsStore]:
    """Yield the nearest stores above whose rows the operator holds back."""
    ahead, seen = [*flow.above[suppress]], set[Key]()
    while ahead:
        key = ahead.pop()
        if key in seen:
            continue
        seen.add(key)
        stores = [s for n in flow.nodes[key].stores for s in flow.stores.get(n, ())]
        own = [s for s in stores if flow.users(s)[:1] == (key,)]
        yield from own
        if not own:
            ahead.extend(flow.above[key])


def _is_windowed(c: StreamsComparison, table: StreamsStore) -> bool | None:
    """Say by the changelog's cleanup policy whether a store is windowed; None if nobody listed it.

    Kafka Streams sets `compact,delete` for window and session stores, `compact` for the others.
    """
    topic = c.internal.get(table.changelog or "")
    policy = (topic.configs | topic.effective).get("cleanup.policy") if topic else None
    return None if policy is None else "delete" in policy


def _lacking(c: StreamsComparison, was: StreamsStore, suppress: Key, buffer: StreamsStore) -> str:
    """Return the outputs and stores that get only some of the final results, "" if none does."""
    users = c.flow_before.users(was)
    known = c.flow_before.outputs[users[0]] if users else frozenset[str]()
    behind = c.flow_after.behind(suppress)
    stores = {
        s.name for s in c.new.stores if s != buffer and c.flow_after.users(s)[:1] and
        c.flow_after.users(s)[0] in behind
    }  # fmt: skip
    return ", ".join([*sorted(c.flow_after.outputs[suppress] - known), *sorted(stores)])
