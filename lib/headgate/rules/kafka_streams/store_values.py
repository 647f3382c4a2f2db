"""What a store's values mean: the operators before it, and the connections between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.flow import UNREAD, Flow, Key
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.facts.store_pairs import meaning
from headgate.rules.kafka_streams.store_keys import OWN_CODE, kept

_TABLE_OPERATORS = ("KTABLE-FILTER", "KTABLE-MAPVALUES", "KTABLE-TRANSFORMVALUES")
_TABLE_AGGREGATES = ("KTABLE-AGGREGATE", "KTABLE-REDUCE")
_AGGREGATES = frozenset({"aggregate", "reduce", "count"})
_IF_OLD_RECORDS = (
    "If the new operators must also apply to old records, replay the inputs under a new "
    "application id."
)
_DO_THEY_DROP = (
    "Do the changed operators drop or change rows of the table? If so, the aggregation in the "
    "store {now} subtracts values that it never added, and its results are wrong."
)


@streams_rule(
    "KST011",
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_IF_OLD_RECORDS,),
    questions=(_DO_THEY_DROP,),
)
def value_operators_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """The state keeps the values that the old operators computed from earlier records. The new
    operators process only new records.

    The results combine both, and differ from the results of either version. The same is true if
    only the connections between the operators changed. An aggregation of a table also subtracts the
    old value of each changed row. If a new filter drops the row, or a new operator changes it, the
    aggregation subtracts a value that it never added.
    """
    for pair, was, now in kept(c):
        found = _changed(c, was, now)
        if found is not None:
            yield RuleResult(
                outcome=Outcome.UNKNOWN if found.of_table else Outcome.RESUMES,
                state_effect=StateEffect.MIXED,
                location=pair.location,
                before=found.before,
                after=found.after,
                because=f"{found.what} before the store {now.name} changed.",
                question=_DO_THEY_DROP.format(now=now.name) if found.of_table else None,
                remedy=_IF_OLD_RECORDS,
            )


@dataclass(frozen=True, slots=True)
class _Changed:
    """What differs before a store: operators, or only their connections."""

    what: str
    before: list[str]
    after: list[str]
    of_table: bool = False


def _changed(c: StreamsComparison, was: StreamsStore, now: StreamsStore) -> _Changed | None:
    old, new = meaning(c.flow_before, was), meaning(c.flow_after, now)
    if old is None or new is None or old.inputs != new.inputs:
        return None
    pairs = list(_fillers(c, was, now))
    words = [(_words(c.flow_before, b), _words(c.flow_after, a)) for b, a in pairs]
    others = [i for i, (b, a) in enumerate(words) if b != a]
    if others:
        before, after = (sorted(w for i in others for w in words[i][side]) for side in (0, 1))
        of_table = any(
            len(words[i][0]) != len(words[i][1]) and _changes_table(c, *pairs[i]) for i in others
        )
        return _Changed("The operators", before, after, of_table)
    rewired = [(b, a) for b, a in pairs if c.flow_before.steps[b] != c.flow_after.steps[a]]
    if not rewired:
        return None
    olds, news = (
        Counter(link for pair in rewired for link in _links(flow, pair[side]))
        for side, flow in enumerate((c.flow_before, c.flow_after))
    )
    # The links are equal if only their order along the way differs.
    gone, come = (olds - news, news - olds) if olds != news else (olds, news)
    return _Changed("The connections between operators", sorted(gone), sorted(come))


def _fillers(
    c: StreamsComparison, was: StreamsStore, now: StreamsStore
) -> Iterator[tuple[Key, Key]]:
    """Yield the operators that fill a store: by custom name, by what feeds them, then in order."""
    old, new = c.flow_before, c.flow_after
    left, right = _writers(old, was), _writers(new, now)
    named = [(k, k) for k in left if k in right and not old.nodes[k].is_generated]
    alike = [(b, a) for b in left for a in right if old.steps[b] == new.steps[a]]
    for b, a in (*named, *alike, *product(left, right)):
        if b in left and a in right:
            left.remove(b)
            right.remove(a)
            yield b, a


def _writers(flow: Flow, store: StreamsStore) -> list[Key]:
    """Return the processors with user code or parts of a cogroup: each may write to its store."""
    users = flow.users(store)
    several = [k for k in users if flow.nodes[k].operator in _SEVERAL]
    return several if several[:1] == [*users[:1]] else [*users[:1]]


_SEVERAL = UNREAD | OWN_CODE | {"cogroup_aggregate"}


def _changes_table(c: StreamsComparison, first: Key, then: Key) -> bool:
    """Say whether another number of operators drops or changes rows of an aggregated table."""
    node = c.flow_after.nodes[then]
    if node.operator not in _AGGREGATES and not then[1].startswith(_TABLE_AGGREGATES):
        return False
    return _of_table(c.flow_before, first) != _of_table(c.flow_after, then)


def _of_table(flow: Flow, start: Key) -> Counter[str]:
    """Count what drops or changes rows of the table that an operator aggregates.

    Behind `to_stream` no old row is subtracted. An operator with a name of its own isn't
    known to be one of a table.
    """
    ahead, seen = [*flow.above[start]], set[Key]()
    while ahead:
        key = ahead.pop()
        if key not in seen and flow.nodes[key].operator != "to_stream":
            seen.add(key)
            ahead.extend(flow.above[key])
    kinds = (kind for _, name in seen for kind in _TABLE_OPERATORS if name.startswith(kind))
    return Counter(kinds)


def _words(flow: Flow, start: Key) -> list[str]:
    """Return the operators above, without sources."""
    return sorted(flow.word(k) for k in _above(flow, start) if flow.nodes[k].kind == "processor")


def _links(flow: Flow, start: Key) -> Iterator[str]:
    """Yield the connections above an operator, such as `filter -> map`."""
    for key in (start, *_above(flow, start)):
        yield from (f"{_name(flow, other)} -> {_name(flow, key)}" for other in flow.fed_by[key])


def _above(flow: Flow, start: Key) -> set[Key]:
    ahead, seen = [*flow.fed_by[start]], set[Key]()
    while ahead:
        key = ahead.pop()
        if key not in seen:
            seen.add(key)
            ahead.extend(flow.fed_by[key])
    return seen


def _name(flow: Flow, key: Key) -> str:
    """Return the topics of a source, the custom name of an operator, else its operator."""
    node = flow.nodes[key]
    if node.kind == "source":
        return ", ".join(sorted(flow.ends.get(key, ())))
    return node.operator.replace("_", " ") if node.is_generated else key[1]
