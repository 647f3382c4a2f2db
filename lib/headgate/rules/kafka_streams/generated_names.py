"""Stores that do the same with the same input: only their generated numbers differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.flow import Flow
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.facts.store_pairs import StorePair, twins

_DELETE_THE_UNUSED = "Delete the unused changelog only if you no longer need a rollback."
_KEEP_TOPOLOGY_OPTIMIZATION = "Keep the old value of topology.optimization."
_GIVE_EACH_STORE = (
    "First set each store's name explicitly in the code, to the name in the running version. "
    "Then add or remove operators."
)
_WHICH_OF_THE_LAST = (
    "Which of the stores {names} {done}? In the code, does the operator of this store come after "
    "the operators of the other stores?"
)


@streams_rule(
    "KST006",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_DELETE_THE_UNUSED, _KEEP_TOPOLOGY_OPTIMIZATION, _GIVE_EACH_STORE),
    questions=(_WHICH_OF_THE_LAST,),
)
def equal_operators_added_or_removed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Several operators have the same kind and the same input, so only the numbers in their
    generated names distinguish them.

    The numbers are positions in the topology. If an operator is inserted before the others, each
    operator reads its neighbour's state.
    """
    before, after = twins(c.flow_before), twins(c.flow_after)
    for pair in c.stores:
        single = pair.before or pair.after
        if single is None or (pair.before and pair.after) or not single.is_generated:
            continue
        flow, alike = (c.flow_after, after) if pair.after else (c.flow_before, before)
        found = alike.get((single.topology, single.name), ())
        likes = [s for s in found if s is not single and s.is_generated]
        if likes and _hold_the_same(flow, (single, *likes)):
            yield _spared(pair, single, likes[0])
        elif likes:
            names = ", ".join(s.name for s in (single, *likes))
            done = "is new" if pair.after else "was removed"
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                state_effect=StateEffect.REINTERPRETED,
                location=pair.location,
                before=len(likes) + (0 if pair.after else 1),
                after=len(likes) + (1 if pair.after else 0),
                because=f"One of the stores {names} {done}.",
                question=_WHICH_OF_THE_LAST.format(names=names, done=done),
                remedy=_GIVE_EACH_STORE,
            )


def _hold_the_same(flow: Flow, stores: Sequence[StreamsStore]) -> bool:
    """Say whether they are windows of a self-join, which hold the same rows of one stream.

    A join's window keeps the records as they come: no function is in between.
    """
    writers = [next(iter(flow.users(s))) for s in stores]
    windows = all(flow.nodes[k].operator == "join_window" for k in writers)
    return windows and len({flow.above[k] for k in writers}) == 1


def _spared(pair: StorePair, single: StreamsStore, like: StreamsStore) -> RuleResult:
    gone = pair.after is None
    return RuleResult(
        outcome=Outcome.RESUMES if gone else Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.EXACT if gone else StateEffect.LOST,
        location=pair.location,
        before=single.name if gone else None,
        after=None if gone else single.name,
        because=(
            f"{single.name} and {like.name} are the two window stores of a self-join and contain "
            "the same rows. The new version needs only one of them."
        )
        if gone
        else (
            f"{single.name} is the second window store of a self-join and starts empty. So new "
            "records on one side of the join don't match earlier records."
        ),
        remedy=_DELETE_THE_UNUSED if gone else _KEEP_TOPOLOGY_OPTIMIZATION,
        scenario=None if gone else "from-scratch",
    )


_KEEP_THE_STORES = (
    "In the new version, give each store's name to the operator that filled this store in the old "
    "version."
)
_WAS_THE_CODE = (
    "Was the code of the two operators swapped, too? Or do both operators compute the same "
    "result? If neither is true, each operator reads the other operator's state."
)


@streams_rule(
    "KST008",
    "inferred from Topology#describe(), not measured",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_KEEP_THE_STORES,),
    questions=(_WAS_THE_CODE,),
)
def equal_operators_swapped_stores(c: StreamsComparison) -> Iterator[RuleResult]:
    """Two equal operators kept their positions, but their stores are swapped.

    If the code of the operators was swapped, too, each operator keeps its state. If only the names
    were swapped, each operator reads the other operator's state.
    """
    old, new = ({(p.topology, p.name): p for p in a.processors} for a in (c.old, c.new))
    if old.keys() != new.keys() or any(old[k].successors != new[k].successors for k in old):
        return
    moved = {s for k in old if old[k].stores != new[k].stores for s in (*old[k].stores,)}
    alike = {name for (_, name), found in twins(c.flow_before).items() if len(found) > 1}
    exchanged = sorted(s for s in moved & alike if c.new.store(s) is not None)
    if len(exchanged) > 1:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            because=f"The stores {' and '.join(exchanged)} are swapped.",
            question=_WAS_THE_CODE,
            rollback=Rollback.UNKNOWN,
            remedy=_KEEP_THE_STORES,
        )
