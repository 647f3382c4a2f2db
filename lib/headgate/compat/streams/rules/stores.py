"""State stores: the engine finds state by the store's exact name, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.compat.report import Outcome, StateEffect, Where
from headgate.compat.rule import Verdict
from headgate.compat.streams.flow import Flow
from headgate.compat.streams.pairs import StorePair, meaning
from headgate.compat.streams.rule import StreamsComparison, streams_rule
from headgate.model.streams import StreamsStore

_NAME_IT = (
    "Give the store the name that the running version uses, also where that is a generated one: "
    'Materialized.as("{old}") (StreamJoined.withStoreName, Suppressed.withName likewise). Else '
    "start a new application id and replay the inputs."
)


@streams_rule("KST001")
def store_name_changed(c: StreamsComparison) -> Iterator[Verdict]:
    """Kafka Streams looks state up by the store's exact name: the store directory and the
    changelog <application.id>-<store>-changelog. Under another name the store starts empty while
    the committed offsets stay where they are, so that everything counted before is gone; the old
    changelog is left behind, and nothing is logged."""
    for pair in c.stores:
        was, now = pair.before, pair.after
        if was is None or now is None or was.name == now.name or was.is_global:
            continue
        if now.is_global or now.restored_from:
            yield _rebuilt(pair, was, now)
            continue
        yield Verdict(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.ORPHANED,
            where=pair.where,
            before=was.name,
            after=now.name,
            because=_renamed(pair, was, now),
            remedy=_NAME_IT.format(old=was.name),
            scenario="from-scratch",
        )


def _renamed(pair: StorePair, was: StreamsStore, now: StreamsStore) -> str:
    if pair.declared:
        return f"{was.name} was declared to be renamed to {now.name}: no tool moves the state."
    if was.is_generated and now.is_generated:
        return f"The generated name {was.name} shifted to {now.name}."
    if was.is_generated:
        return f"The store {was.name} had a generated name and is now called {now.name}."
    return f"The store {was.name} is now called {now.name}."


def _rebuilt(pair: StorePair, was: StreamsStore, now: StreamsStore) -> Verdict:
    return Verdict(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.EXACT,
        where=pair.where,
        before=was.name,
        after=now.name,
        because=f"{now.name} is filled from the topic {now.restored_from}, so that no row is lost.",
        remedy="Delete the old changelog once the new version has proven itself.",
    )


@streams_rule("KST002")
def state_adopted(c: StreamsComparison) -> Iterator[Verdict]:
    """Another operator than before now has this store's name, so that it takes over the state and
    the changelog that were left under it, and goes on from numbers that mean something else.
    Generated names are positions: inserting, removing or swapping operators moves them. There is
    no exception where the types agree, and no orphaned topic to notice."""
    partner = {id(p.after): p for p in c.stores if p.after is not None}
    named = {_key(s): s for s in c.new.stores}
    for old in c.old.stores:
        now = named.get(_key(old))
        if now is None or old.is_global or now.is_global or now.restored_from:
            continue
        was = partner[id(now)].before
        if (was is None or _key(was) != _key(old)) or _other_operator(c, old, now):
            yield Verdict(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.REINTERPRETED,
                where=Where(old.node, now.node),
                before=_described(c.flow_before, old),
                after=_described(c.flow_after, now),
                because=f"{old.name} belongs to another operator now.",
                remedy=_NAME_IT.format(old=old.name)
                + " Give the other operator's store a name of its own.",
                scenario="from-scratch",
            )


def _other_operator(c: StreamsComparison, old: StreamsStore, now: StreamsStore) -> bool:
    """Say whether a name that the code gave went to an operator of another kind or input."""
    was, is_ = meaning(c.flow_before, old), meaning(c.flow_after, now)
    if was is None or is_ is None:
        return False
    if was.family != is_.family:
        return not (was.inputs & is_.inputs)
    if was.inputs & is_.inputs or not was.inputs or not is_.inputs:
        return False
    others = (meaning(c.flow_after, s) for s in c.new.stores if s != now)
    return any(o and o.family == was.family and o.inputs == was.inputs for o in others)


def _described(flow: Flow, store: StreamsStore) -> str:
    what = meaning(flow, store)
    if what is None:
        return store.name
    kind = what.family.replace("_", " ")
    return f"{store.name}: {kind} of {', '.join(sorted(what.inputs)) or 'nothing'}"


def _key(store: StreamsStore) -> tuple[str | None, str]:
    return store.topology, store.name


@streams_rule("KST003")
def store_removed(c: StreamsComparison) -> Iterator[Verdict]:
    """A store that no operator uses any more is left behind with its changelog. Should a later
    version bring the name back, it finds the rows as they are now and misses all that was
    processed in between."""
    left = {_key(s) for s in c.new.stores}
    for pair in c.stores:
        was = pair.before
        if was is None or pair.after is not None or _key(was) in left or was.is_global:
            continue
        if (successor := _in_its_place(c, was)) is not None:
            yield _replaced(was, successor)
        elif not _is_buffer(c, was):
            yield Verdict(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.ORPHANED,
                where=pair.where,
                before=was.name,
                after=None,
                because=f"{was.name} was removed.",
                remedy=f"Delete {was.changelog or was.name} once the new version is proven.",
            )


def _in_its_place(c: StreamsComparison, was: StreamsStore) -> StreamsStore | None:
    """Return a new store of another kind of operator at the same place, or None."""
    mine = meaning(c.flow_before, was)
    for pair in c.stores:
        now = meaning(c.flow_after, pair.after) if pair.after and not pair.before else None
        if (
            mine
            and now
            and mine.family != now.family
            and mine.inputs == now.inputs
            and (mine.down == now.down or (mine.outputs == now.outputs and mine.next == now.next))
        ):
            return pair.after
    return None


def _replaced(was: StreamsStore, now: StreamsStore) -> Verdict:
    return Verdict(
        outcome=Outcome.UNKNOWN,
        state_effect=StateEffect.LOST,
        where=Where(was.node, now.node),
        before=was.name,
        after=now.name,
        because=f"{was.name} was removed, and {now.name} of another operator stands in its place.",
        question=f"Is {now.name} meant to go on from what {was.name} holds? It starts empty.",
        remedy="Replay the inputs into a new application id where the history is needed.",
    )


@streams_rule("KST004")
def suppression_removed(c: StreamsComparison) -> Iterator[Verdict]:
    """What suppress() holds back at the upgrade lies in its buffer store alone. Once the operator
    is gone nobody reads the buffer, and these results are never published."""
    left = {_key(s) for s in c.new.stores}
    for pair in c.stores:
        was = pair.before
        if was and pair.after is None and _key(was) not in left and _is_buffer(c, was):
            yield Verdict(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                where=pair.where,
                before=was.name,
                after=None,
                because=f"suppress() with the buffer {was.name} was removed.",
                remedy="Let stream time pass every open window first (send records that close "
                "them), so that the buffer is empty, then stop and upgrade.",
                scenario="offline-upgrade",
            )


def _is_buffer(c: StreamsComparison, store: StreamsStore) -> bool:
    return any(c.flow_before.nodes[k].operator == "suppress" for k in c.flow_before.users(store))


@streams_rule("KST005")
def store_added(c: StreamsComparison) -> Iterator[Verdict]:
    """A new store starts empty and sees what is processed from now on: the committed offsets of
    inputs that were read before are not moved back for it."""
    left = {_key(s) for s in c.old.stores}
    for pair in c.stores:
        now = pair.after
        if now is None or pair.before is not None or _key(now) in left or now.is_global:
            continue
        if now.changelog in c.internal:
            yield _resurrected(now)
        elif topic := _table_read_before(c, now):
            yield _half_a_table(now, topic)
        else:
            yield Verdict(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.NONE,
                where=Where(None, now.node),
                before=None,
                after=now.name,
                because=f"{now.name} is new.",
                remedy="Replay the inputs where the new store must know the history.",
            )


def _resurrected(now: StreamsStore) -> Verdict:
    return Verdict(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.REINTERPRETED,
        where=Where(None, now.node),
        before=now.changelog,
        after=now.name,
        because=f"{now.changelog} is on the cluster, left by an earlier version: {now.name} "
        "restores its old rows, which miss everything that was processed since.",
        remedy=f"Delete {now.changelog} before the start, or call the store something else.",
    )


def _table_read_before(c: StreamsComparison, now: StreamsStore) -> str | None:
    """Return the topic of a new table that the group has read already, None where there is none."""
    if now.restored_from:
        return None
    flow = c.flow_after
    old = {t for s in c.old.sources if not s.is_global for t in s.topics}
    first = next(iter(flow.users(now)), None)
    if first is None or flow.nodes[first].operator != "table_source":
        return None
    return next(iter(sorted(flow.inputs[first] & old)), None)


def _half_a_table(now: StreamsStore, topic: str) -> Verdict:
    return Verdict(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.LOST,
        where=Where(None, now.node),
        before=None,
        after=now.name,
        because=f"{topic} was read as a stream before: the table {now.name} goes on at the "
        "committed offsets and never gets the rows written before.",
        remedy="Set topology.optimization to reuse.ktable.source.topics, so that the table is "
        f"restored from {topic} itself, or take the group's offsets of {topic} back to the start.",
        scenario="from-scratch",
    )
