"""Rules about the set of stateful operators."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind, StatefulOperator
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.upstream import branch
from headgate.rules.spark.facts.checkpoint_writer import names_are_checked
from headgate.rules.spark.facts.state_stores import is_read

_REMEDY = "Keep the stateful operators as they are, or reprocess the input with a new checkpoint."
_MISMATCH = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
_MISSING = "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY"
_OF_MANY_NAMES = (OperatorKind.MAP_GROUPS, OperatorKind.TRANSFORM_WITH_STATE)


@rule("OPS001", outcomes=(Outcome.REFUSES,), remedies=(_REMEDY,))
def operators_differ(c: Comparison) -> Iterator[RuleResult]:
    """Spark compares the ids and names of all stateful operators with `state/*/_metadata`.

    Ids count from the output (id 0) to the sources. If you add or remove an operator, the ids of
    all upstream operators change. `limit()` counts as a stateful operator.
    """
    if not c.before.stateful or c.after.stateful is None or not names_are_checked(c):
        return
    differing = [p for p in c.operators if _differs(p)]
    if differing:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            location=differing[0].location,
            before=_listed(c.before.stateful),
            after=_listed(c.after.stateful),
            because=_sentence(c, differing),
            error_class=c.spark.condition(_MISMATCH),
            remedy=_REMEDY,
            scenario="from-scratch",
        )


_START_THE_NEW = (
    "Start the new version with a new checkpoint at the old checkpoint's offsets (`headgate plan "
    "new-checkpoint`), or reprocess the input."
)


@rule("OPS002", outcomes=(Outcome.REFUSES,), remedies=(_START_THE_NEW,))
def first_stateful_operator(c: Comparison) -> Iterator[RuleResult]:
    """A checkpoint of a query without state has no `state/` directory to continue from.

    Spark expects state for each stateful operator of a query that restarts, so the first batch
    fails and the pipeline stays down. On Spark 4.0, the failed start also leaves files in the
    checkpoint with which the old version fails to start.
    """
    if c.before.stateful != () or not c.after.stateful:
        return
    first = c.after.stateful[0]
    poisoned = not c.spark.at_least(4, 2) and c.spark.at_least(4, 0)
    yield RuleResult(
        outcome=Outcome.REFUSES,
        location=Location(None, first.node),
        before=[],
        after=_listed(c.after.stateful),
        because="The new version adds the query's first stateful operator "
        f"({first.kind.value.replace('_', ' ')}).",
        error_class=c.spark.condition(_MISSING),
        rollback=Rollback.REPAIRABLE if poisoned else Rollback.SAFE,
        remedy=_START_THE_NEW,
        scenario="new-checkpoint",
    )


@rule("OPS003", outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES), remedies=(_REMEDY,))
def operators_differ_unchecked(c: Comparison) -> Iterator[RuleResult]:
    """Spark compares operator names only if Spark 4.0 or later wrote and reads the checkpoint.

    Otherwise, Spark starts although the operators differ. The state of a removed operator is no
    longer used. If an operator gets another operator's id, it reads that operator's state.
    """
    if not c.before.stateful or c.after.stateful is None or names_are_checked(c):
        return
    for pair in (p for p in c.operators if _differs(p)):
        yield _unchecked(c, pair)


_KEEP_THE_ORDER = "Keep the order of the branches, or reprocess the input with a new checkpoint."


@rule("OPS005", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP_THE_ORDER,))
def branches_swapped(c: Comparison) -> Iterator[RuleResult]:
    """Spark distinguishes operators of one kind only by their position.

    If two branches of a union or a join are swapped, the operators of each branch read the state of
    the other branch.
    """
    pairs = [p for p in c.operators if p.kind is not None]
    if len(pairs) < 2:
        return
    old = [branch(c.before.topology, p.location.before) for p in pairs]
    new = [branch(c.after.topology, p.location.after) for p in pairs]
    for index, pair in enumerate(pairs):
        taken = [
            i
            for i, other in enumerate(pairs)
            if other.kind is pair.kind and new[index] == old[i] != old[index]
        ]
        if taken and is_read(c, pair):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.REINTERPRETED,
                location=pair.location,
                because=(
                    "This operator moved to the old position of another operator of the same "
                    "kind, and reads that operator's state."
                ),
                remedy=_KEEP_THE_ORDER,
                scenario="from-scratch",
            )


@rule("OPS006", outcomes=(Outcome.RESUMES,))
def limit_changed(c: Comparison) -> Iterator[RuleResult]:
    """The state of `limit()` is the number of rows that were emitted. Spark continues this count.

    With a larger limit, Spark emits rows that arrive after the restart. It doesn't emit the rows
    that the old limit dropped. With a smaller limit, Spark emits more rows only until the new limit
    is reached.
    """
    nodes = {n.id: n for n in c.after.topology.nodes if n.operator == "limit"}
    counting = {o.node for o in c.after.stateful or () if o.kind is OperatorKind.LIMIT}
    for node in c.before.topology.nodes:
        after = nodes.get(c.nodes.pairs.get(node.id, ""))
        old, new = node.details.get("limit"), after.details.get("limit") if after else None
        if after is None or None in (old, new) or str(old) == str(new):
            continue
        rows = [int(r) for r in (str(old), str(new)) if r.isdecimal()]
        larger = len(rows) < 2 or rows[1] > rows[0]
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.MIXED
            if after.id in counting and larger
            else StateEffect.EXACT
            if c.is_stateful
            else StateEffect.NONE,
            location=Location(node.id, after.id),
            before=old,
            after=new,
            because=f"The row limit changed from {old} to {new}.",
        )


_ADD_A_PLAN = "Add a query plan to the evidence."
_WHAT_IS_THE_PLAN = (
    "Which stateful operators does the {side} version have? Its explain() output, a checkpoint "
    "with state metadata, or a capture of its entry point (module:function) shows these operators."
)


@rule(
    "OPS004", outcomes=(Outcome.UNKNOWN,), remedies=(_ADD_A_PLAN,), questions=(_WHAT_IS_THE_PLAN,)
)
def operators_not_known(c: Comparison) -> Iterator[RuleResult]:
    """Headgate can't judge the state without the stateful operators of both versions.

    If a stateful operator was added or removed, Spark may fail to start the new version. If two
    operators were swapped, each may continue with the state of the other, and write wrong results.
    Neither can be excluded without the operators.
    """
    if c.before.stateful is not None and c.after.stateful is not None:
        return
    side = "old" if c.before.stateful is None else "new"
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        because=f"The evidence of the {side} version doesn't show its stateful operators.",
        question=_WHAT_IS_THE_PLAN.format(side=side),
        rollback=Rollback.UNKNOWN,
        remedy=_ADD_A_PLAN,
    )


def _differs(pair: OperatorPair) -> bool:
    if pair.before is None or pair.after is None:
        return True
    kinds = {pair.before.kind, pair.after.kind}
    if OperatorKind.UNKNOWN in kinds:
        return pair.before.name != pair.after.name
    return len(kinds) > 1 or _other_interface(pair)


def _other_interface(pair: OperatorPair) -> bool:
    """Say whether one kind has two names: Scala, Python with pandas, Python with rows."""
    assert pair.before and pair.after
    old, new = pair.before.name, pair.after.name
    return pair.kind in _OF_MANY_NAMES and None not in (old, new) and old != new


def _unchecked(c: Comparison, pair: OperatorPair) -> RuleResult:
    """Measured on 3.5.8: gone upstream is a replay, gone altogether is a fresh start."""
    gone = pair.after is None
    replay = gone and bool(c.after.stateful)
    return RuleResult(
        outcome=Outcome.RESUMES if replay and not _same_kind_twice(c) else Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.LOST if gone else StateEffect.REINTERPRETED,
        location=pair.location,
        before=pair.before.kind.value if pair.before else None,
        after=pair.after.kind.value if pair.after else None,
        because=_became(pair),
        rollback=Rollback.LOST,
        remedy=_REMEDY,
        scenario="from-scratch",
    )


def _same_kind_twice(c: Comparison) -> bool:
    kinds = [o.kind for o in c.before.stateful or ()]
    return len(kinds) != len(set(kinds))


def _listed(operators: tuple[StatefulOperator, ...]) -> list[str]:
    return [f"{i}: {o.kind.value}" for i, o in enumerate(operators)]


def _sentence(c: Comparison, differing: list[OperatorPair]) -> str:
    old, new = len(c.before.stateful or ()), len(c.after.stateful or ())
    if new == 0:
        return "The new version has no stateful operators, but the checkpoint has state."
    if old != new:
        return f"Number of stateful operators: {old} in the checkpoint, {new} in the new version."
    first = differing[0]
    if first.kind is not None and first.before and first.after:
        return f"The stateful operator changed from {first.before.name} to {first.after.name}."
    return _became(first)


def _became(pair: OperatorPair) -> str:
    was, now = (o and o.kind.value.replace("_", " ") for o in (pair.before, pair.after))
    if was and now:
        return f"The stateful operator changed from {was} to {now}."
    return (
        (f"The new version adds the stateful operator {now}.")
        if now
        else f"The new version removes the stateful operator {was}."
    )
