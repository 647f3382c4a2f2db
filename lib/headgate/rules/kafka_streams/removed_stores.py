"""Stores that no operator uses any more: what they held, and what replaces them."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.flow import Flow
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.facts.store_pairs import Meaning, meaning
from headgate.rules.kafka_streams.suppression import is_buffer


def _key(store: StreamsStore) -> tuple[str | None, str]:
    return store.topology, store.name


_IF_THE_HISTORY = (
    "If the new version needs the earlier rows, replay the inputs under a new application id."
)
_DELETE_ONLY_IF = "Delete the changelog {changelog} only if you no longer need a rollback."
_SHOULD_CONTINUE_WITH = (
    "The store {now} starts empty. Does the new version need the rows of the store {was}?"
)


@streams_rule(
    "KST003",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_IF_THE_HISTORY, _DELETE_ONLY_IF),
    questions=(_SHOULD_CONTINUE_WITH,),
)
def store_removed(c: StreamsComparison) -> Iterator[RuleResult]:
    """If no operator uses a store any more, its local state and its changelog remain.

    A later version that uses the store's name again restores the old rows, which lack all later
    updates.
    """
    left = {_key(s) for s in c.new.stores}
    for pair in c.stores:
        was = pair.before
        if was is None or pair.after is not None or _key(was) in left or was.is_global:
            continue
        if (successor := _successor_of(c, was)) is not None:
            yield _replaced(c, was, successor)
        elif not is_buffer(c.flow_before, was):
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.ORPHANED,
                location=pair.location,
                before=was.name,
                after=None,
                because=f"The store {was.name} was removed.",
                remedy=_DELETE_ONLY_IF.format(changelog=was.changelog or was.name),
            )


def _successor_of(c: StreamsComparison, was: StreamsStore) -> StreamsStore | None:
    """Return a new store of another kind of operator that replaces `was`, or None."""
    mine = meaning(c.flow_before, was)
    news = (p.after for p in c.stores if p.after and not p.before)
    return next((s for s in news if mine and _is_successor(c, was, mine, s)), None)


def _is_successor(
    c: StreamsComparison, was: StreamsStore, mine: Meaning, new: StreamsStore
) -> bool:
    now = meaning(c.flow_after, new)
    if now is None or mine.family == now.family or mine.inputs != now.inputs:
        return False
    if new.is_global or new.restored_from:
        return False
    if mine.down == now.down or (mine.outputs == now.outputs and mine.next == now.next):
        return True
    joins = {mine.family, now.family} == {"table", "join"}
    return joins and _seen_by(c.flow_before, was) == _seen_by(c.flow_after, new) != frozenset()


def _seen_by(flow: Flow, store: StreamsStore) -> frozenset[str]:
    """Return the outputs that a store's rows reach, also through operators that look rows up."""
    return frozenset[str]().union(*(flow.outputs[k] for k in flow.users(store)))


def _replaced(c: StreamsComparison, was: StreamsStore, now: StreamsStore) -> RuleResult:
    sides = (meaning(c.flow_before, was), meaning(c.flow_after, now))
    lost = "suppress" not in {m.family for m in sides if m}
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG if lost else Outcome.UNKNOWN,
        state_effect=StateEffect.LOST,
        location=Location(was.node, now.node),
        before=was.name,
        after=now.name,
        because=(
            f"The store {was.name} was removed. Another operator's store {now.name} replaces it "
            "and starts empty."
        ),
        question=None if lost else _SHOULD_CONTINUE_WITH.format(now=now.name, was=was.name),
        remedy=_IF_THE_HISTORY,
    )
