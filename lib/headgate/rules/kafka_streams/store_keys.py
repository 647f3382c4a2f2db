"""What a store's keys mean: which operators are between it and its inputs, and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.expected_partitions import KEY_CHANGING
from headgate.rules.kafka_streams.facts.flow import UNREAD, Flow, Key
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.facts.store_pairs import StorePair

_UNCHANGED, _UNREAD = "", "?"
_PERHAPS = frozenset({"processor", "unknown", "process"})
_LAST_ROWS = frozenset({"table_source", "to_table"})
"""Operators that store the last value of each key, in the same kind of store."""
_KEEPS = frozenset(
    {
        "to_stream",
        "suppress",
        "filter",
        "peek",
        "branch",
        "map_values",
        "flat_map_values",
        "transform_values",
        "process_values",
    }
)
"""Operators that keep the key of each record."""


_IF_KEYS_DIFFER = "If keys differ, give the store another name and replay the inputs."
_DOES_GIVE_EACH = (
    "Do records of {topic} still get the same keys in the store {now}? The keys now come from: "
    "{named}."
)


@streams_rule(
    "KST010",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_IF_KEYS_DIFFER,),
    questions=(_DOES_GIVE_EACH,),
    is_of_state=True,
)
def key_operators_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The operators that set the keys of a store's records changed. Topology#describe() doesn't
    show how they compute a key.

    If the keys are the same, the new version continues with the state. If the keys differ, the old
    rows remain forever, and the new keys start without state.
    """
    for pair, was, now in kept(c):
        old, new = _key_makers(c.flow_before, was), _key_makers(c.flow_after, now)
        for topic in sorted(old.keys() & new.keys()):
            if not _same_makers(old[topic], new[topic]):
                yield RuleResult(
                    outcome=Outcome.UNKNOWN,
                    state_effect=StateEffect.MIXED,
                    location=pair.location,
                    before=_named(old[topic]),
                    after=_named(new[topic]),
                    because=(
                        f"For records of the topic {topic}, the operators that set the keys of the "
                        f"store {now.name} changed."
                    ),
                    question=_DOES_GIVE_EACH.format(
                        named=_named(new[topic]), topic=topic, now=now.name
                    ),
                    remedy=_IF_KEYS_DIFFER,
                )


def kept(c: StreamsComparison) -> Iterator[tuple[StorePair, StreamsStore, StreamsStore]]:
    """Yield the stores whose state is kept: one meaning, one name, in both versions."""
    for pair in c.stores:
        was, now = pair.before, pair.after
        if was and now and was.name == now.name and not (was.is_global or now.is_global):
            yield pair, was, now


def _key_makers(flow: Flow, store: StreamsStore) -> dict[str, frozenset[str]]:
    """Return for each input the operators that give its records their last key before the store."""
    first = flow.users(store)[0] if flow.users(store) else None
    ahead: list[tuple[Key, str, bool]] = [(first, _UNCHANGED, False)] if first else []
    seen: set[tuple[Key, str, bool]] = set()
    found: dict[str, set[str]] = {}
    while ahead:
        step = ahead.pop()
        if step in seen:
            continue
        seen.add(step)
        key, maker, split = step
        node = flow.nodes[key]
        if node.kind == "source" and not flow.above[key]:
            for topic in flow.ends.get(key, ()):
                found.setdefault(topic, set()).add(maker)
            continue
        split = split or node.operator == "repartition"
        maker = maker or _maker(node.operator, split)
        ahead.extend((k, maker, split) for k in flow.above[key])
    return {topic: frozenset(makers) for topic, makers in found.items()}


def _maker(operator: str, repartitioned: bool) -> str:
    """Return what an operator does to the key: what the code names may be a map, if Kafka Streams
    repartitioned behind it, and else is none."""
    if operator in KEY_CHANGING:
        return operator
    return _UNREAD if operator in _PERHAPS and repartitioned else _UNCHANGED


def _same_makers(old: frozenset[str], new: frozenset[str]) -> bool:
    if old == new:
        return True
    if _UNREAD not in old | new:
        return False
    return (_UNCHANGED in old) == (_UNCHANGED in new) and len(old) == len(new)


def _named(makers: frozenset[str]) -> str:
    words = {_UNCHANGED: "the input topic", _UNREAD: "an operator with a custom name"}
    return ", ".join(words.get(m, m.replace("_", " ")) for m in sorted(makers))


_IF_ITS_KIND = (
    "If the store's kind or types changed, give the store another name and replay the inputs."
)
_IS_STILL_THE_SAME = (
    "Is the store {now} still the same kind of table (plain, windowed or session)? Are its window, "
    "key type and value type still the same?"
)


@streams_rule(
    "KST012",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_IF_ITS_KIND,),
    questions=(_IS_STILL_THE_SAME,),
    is_of_state=True,
)
def table_kind_may_differ(c: StreamsComparison) -> Iterator[RuleResult]:
    """The operators directly after the store changed, which suggests a different kind of table. For
    example, the table became windowed and kept its name. Topology#describe() doesn't show the kind
    or types of a store.

    If the table is now windowed, Kafka Streams reads the changelog's keys as key and window. Short
    keys fail (ProcessorStateException), and long keys are silently wrong.
    """
    for pair, was, now in kept(c):
        old, new = _follow(c.flow_before, was), _follow(c.flow_after, now)
        if old and new and not old & new and (old | new) & KEY_CHANGING:
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                state_effect=StateEffect.REINTERPRETED,
                location=pair.location,
                before=sorted(old),
                after=sorted(new),
                because=(
                    f"Operators directly after the store {now.name}: {_listed(old)} in the old "
                    f"version, {_listed(new)} in the new version."
                ),
                question=_IS_STILL_THE_SAME.format(now=now.name),
                remedy=_IF_ITS_KIND,
            )


def _listed(words: frozenset[str]) -> str:
    return ", ".join(w.replace("_", " ") for w in sorted(words))


def _follow(flow: Flow, store: StreamsStore) -> frozenset[str]:
    """Return the first operators behind a store's writer that may handle keys."""
    ahead = [*(flow.below[flow.users(store)[0]] if flow.users(store) else ())]
    found: set[str] = set()
    seen: set[Key] = set()
    while ahead:
        key = ahead.pop()
        if key in seen:
            continue
        seen.add(key)
        word = flow.word(key)
        if word in _KEEPS:
            ahead.extend(flow.below[key])
        else:
            found.add(word)
    return frozenset(found)


OWN_CODE = frozenset(
    {
        "stateful_processor",
        "process",
        "process_values",
        "transform",
        "transform_values",
        "flat_transform",
        "flat_transform_values",
    }
)
"""Processors that fill a store with user code, through any method of the Processor API."""
_NAMED = frozenset({"stateful_processor", "materialize", "processor", "branch"})
"""The operators that Headgate assumes for a node with a custom name."""
_OF_THE_DSL = frozenset(
    {
        "aggregate",
        "reduce",
        "cogroup_aggregate",
        "to_table",
        "table_source",
        "filter",
        "map_values",
        "transform_values",
        "table_table_join_merge",
        "foreign_key_join",
    }
)
"""DSL operators that store a table."""


def _only_named(c: StreamsComparison, was: StreamsStore, now: StreamsStore) -> bool:
    """Say whether an operator of the DSL may just have got a name, or lost it.

    What follows is the same, or was named as well. A processor that replaces it has no toStream()
    and no table after it. Of several named users of a store, each may be the one that fills it.
    """
    old, new = c.flow_before, c.flow_after
    first, then = old.users(was), new.users(now)
    return any(_got_a_name(old, first[0], new, k) for k in then) or any(
        _got_a_name(new, then[0], old, k) for k in first
    )


def _got_a_name(unnamed: Flow, key: Key, named: Flow, other: Key) -> bool:
    if unnamed.nodes[key].operator not in _OF_THE_DSL or named.nodes[other].operator not in _NAMED:
        return False
    words = Counter(unnamed.nodes[k].operator for k in unnamed.below[key])
    others = Counter(named.nodes[k].operator for k in named.below[other])
    return (
        len(unnamed.behind(key)) == len(named.behind(other))
        and words.total() == others.total()
        and not (others - words).keys() - UNREAD - _NAMED
    )


_IF_THEY_DONT = (
    "If the types or the meaning differ, give the store another name and replay the inputs."
)
_DO_AND_KEEP = (
    "Do the operators {replace} (old version) and {replace_2} (new version) write rows with the "
    "same types and meaning to the store {now}?"
)


_HAS_IT_TIMESTAMPS = (
    "If a processor fills the store {now}: does the code build the store with "
    "timestampedKeyValueStoreBuilder, timestampedWindowStoreBuilder or sessionStoreBuilder, like "
    "the DSL? {question}"
)


_IF_THE_TABLE = "Give the store another name and replay the inputs."


@streams_rule(
    "KST013",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_IF_THEY_DONT, _IF_THE_TABLE),
    questions=(_DO_AND_KEEP, _HAS_IT_TIMESTAMPS),
    is_of_state=True,
)
def operator_kind_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The store keeps its name, but another kind of operator or another processor fills it.

    The new operator reads the old rows as its own, even if they mean something else. A processor
    also needs the store builder of the DSL: count, reduce and aggregate keep timestamps
    (timestampedKeyValueStoreBuilder). A store that is opened without timestamps fails
    (ProcessorStateException). An operator that only gets a name fills the store as before.

    An aggregation of a stream adds every record. An aggregation of a table adds the new value of a
    row, and subtracts the old one.
    """
    for pair, was, now in kept(c):
        first, then = c.flow_before.users(was)[:1], c.flow_after.users(now)[:1]
        old = c.flow_before.nodes[first[0]].operator if first else ""
        new = c.flow_after.nodes[then[0]].operator if then else ""
        if {_is_of_table(first), _is_of_table(then)} == {True, False}:
            yield _of_table_or_stream(pair, now, first[0][1], then[0][1])
        if processors := _handed_over(c, was, now):
            yield _other_processor(pair, now, *processors)
            continue
        if not (old and new) or old == new or "processor" in (old, new):
            continue
        if {old, new} <= _LAST_ROWS or {old, new} <= OWN_CODE or _only_named(c, was, now):
            continue
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            state_effect=StateEffect.REINTERPRETED,
            location=pair.location,
            before=old,
            after=new,
            because=(
                f"Another kind of operator now fills the store {now.name}: "
                f"{old.replace('_', ' ')} -> {new.replace('_', ' ')}."
            ),
            question=_asked(now.name, old, new),
            remedy=_IF_THEY_DONT,
        )


def _handed_over(
    c: StreamsComparison, was: StreamsStore, now: StreamsStore
) -> tuple[str, str] | None:
    """Return the processors that gave up a store and that took it, if both versions have both.

    Processors only exchanged their names if each store is fed as before, and the other one wasn't.
    """
    old, new = c.flow_before, c.flow_after
    left, right = {*old.users(was)}, {*new.users(now)}
    if left & right or not all(_is_own_code(old, k) for k in left):
        return None
    gone = sorted(k for k in left if k in new.nodes and not old.nodes[k].is_generated)
    come = sorted(k for k in right if k in old.nodes and not new.nodes[k].is_generated)
    feeds = {old.steps[k] for k in left}
    only_names = feeds == {new.steps[k] for k in right} and not feeds & {old.steps[k] for k in come}
    if only_names or not gone or not come:
        return None
    return ", ".join(k[1] for k in gone), ", ".join(k[1] for k in come)


def _is_own_code(flow: Flow, key: Key) -> bool:
    return flow.nodes[key].operator in UNREAD | OWN_CODE


def _other_processor(pair: StorePair, now: StreamsStore, old: str, new: str) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        state_effect=StateEffect.REINTERPRETED,
        location=pair.location,
        before=old,
        after=new,
        because=f"Another processor now uses the store {now.name}: {old} -> {new}.",
        question=_DO_AND_KEEP.format(replace=old, replace_2=new, now=now.name),
        remedy=_IF_THEY_DONT,
    )


def _is_of_table(keys: Sequence[Key]) -> bool | None:
    """Say whether a store's first user aggregates a table; None if its own name doesn't show it."""
    name = keys[0][1] if keys else ""
    kind, _, what = name.partition("-")
    is_known = what.startswith(("AGGREGATE-", "REDUCE-")) and kind in ("KTABLE", "KSTREAM")
    return kind == "KTABLE" if is_known else None


def _of_table_or_stream(pair: StorePair, now: StreamsStore, old: str, new: str) -> RuleResult:
    words = ("a table", "a stream") if new.startswith("KSTREAM") else ("a stream", "a table")
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.REINTERPRETED,
        location=pair.location,
        before=old,
        after=new,
        because=(
            f"An aggregation of {words[0]} filled the store {now.name}, and now an aggregation of "
            f"{words[1]} fills it. The new version continues with the stored values."
        ),
        remedy=_IF_THE_TABLE,
    )


def _asked(store: str, old: str, new: str) -> str:
    question = _DO_AND_KEEP.format(
        replace=old.replace("_", " "), replace_2=new.replace("_", " "), now=store
    )
    if {old, new} & OWN_CODE:
        return _HAS_IT_TIMESTAMPS.format(now=store, question=question)
    return question
