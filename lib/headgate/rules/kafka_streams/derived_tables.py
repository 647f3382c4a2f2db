"""Tables made from tables: what becomes of rows as these get a store of their own."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.flow import Flow, Key
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule

_DERIVE = frozenset({"filter", "map_values", "transform_values"})
_WORKED_OUT = frozenset({"foreign_key_join", "map_values", "transform_values"})
# What a named operator of a table is called: without a store, with several, with one.
_NAMED = frozenset({"processor", "stateful_processor", "materialize"})
_ONLY_NEW_VALUES = frozenset({"to_stream", "for_each", "foreach"})


_REMOVE_THE_STORE = (
    "Don't store the table (remove Materialized), or replay the inputs under a new application id."
)
_IS_A_FILTER = (
    "Is the operator {what} a table filter? If so, rows that passed the filter before the new "
    "version's start stay in the results, even if they no longer match."
)


@streams_rule(
    "KST007",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_REMOVE_THE_STORE,),
    questions=(_IS_A_FILTER,),
)
def derived_table_gets_store(c: StreamsComparison) -> Iterator[RuleResult]:
    """A table that was computed on demand from another table now has its own store.

    The store starts empty and gets only rows that change after the start. Rows that passed a filter
    before the start aren't retracted if they no longer match. Joins and aggregations of the table
    miss the unchanged rows. A table that is only converted to a stream loses nothing.
    """
    for pair in c.stores:
        now = pair.after
        if now is None or pair.before is not None or now.is_global or now.restored_from:
            continue
        first = next(iter(c.flow_after.users(now)), None)
        if first is None or not _was_there_without(c, first):
            continue
        outcome = _outcome(c.flow_after, now, first)
        if outcome is not Outcome.RESUMES:
            yield _started_empty(now, outcome, _operator_of(c.flow_after, first))


def _was_there_without(c: StreamsComparison, key: Key) -> bool:
    """Say whether the old version had the operator with all above it, without a store."""
    old, new = c.flow_before, c.flow_after
    node = new.nodes[key]
    if node.operator in _NAMED:
        same = [key] if key in old.nodes and not node.is_generated else []
        table = "to_stream" in {new.nodes[k].operator for k in new.below[key]}
        return table and any(not old.nodes[k].stores for k in same)
    like = old.like.get(new.ways_up[key], ())
    return node.operator in _DERIVE and any(not old.nodes[k].stores for k in like)


def only_published(flow: Flow, store: StreamsStore) -> bool:
    """Say whether only queries read a store that keeps the result of a table.

    Such rows are computed from other stores. The store of a join of tables is never queried for the
    previous row; those of mapped values and of foreign-key joins are, by operators that retract old
    rows.
    """
    users = flow.users(store)
    if not users or users[1:]:
        return False
    operator = flow.nodes[users[0]].operator
    if operator == "table_table_join_merge":
        return True
    following = {flow.nodes[k].operator for k in flow.below[users[0]]}
    return operator in _WORKED_OUT and following <= _ONLY_NEW_VALUES


def is_read_back(flow: Flow, store: StreamsStore) -> bool:
    """Say whether more than queries reads a table's store: a join, or what needs old rows."""
    users = flow.users(store)
    following = {flow.nodes[k].operator for key in users[:1] for k in flow.below[key]}
    return bool(users[1:] or following - _ONLY_NEW_VALUES)


def _outcome(flow: Flow, store: StreamsStore, first: Key) -> Outcome:
    if is_read_back(flow, store):
        return Outcome.SILENTLY_WRONG
    operator = flow.nodes[first].operator
    if operator in _NAMED:
        return Outcome.UNKNOWN
    return Outcome.SILENTLY_WRONG if operator == "filter" else Outcome.RESUMES


def _operator_of(flow: Flow, key: Key) -> str:
    return flow.nodes[key].operator.replace("_", " ") if key[1].startswith("KTABLE") else key[1]


def _started_empty(now: StreamsStore, outcome: Outcome, what: str) -> RuleResult:
    return RuleResult(
        outcome=outcome,
        state_effect=StateEffect.LOST,
        location=Location(None, now.node),
        before=None,
        after=now.name,
        because=(
            f"The new store {now.name} contains the result of the operator {what}. The old version "
            "didn't store this result."
        ),
        question=_IS_A_FILTER.format(what=what) if outcome is Outcome.UNKNOWN else None,
        remedy=_REMOVE_THE_STORE,
        scenario="from-scratch",
    )
