"""Rules about functions over groups with state: by what they group, and what wakes them."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.changed_keys import (
    IF_KEYS_CHANGED,
    SAME_KEY,
    WERE_NULLS,
    hardly_changed,
    unknown,
)
from headgate.rules.spark.facts.state_keys import KeyChange, key_change
from headgate.rules.spark.facts.state_stores import check_is_off, read_pairs

_KINDS = (OperatorKind.MAP_GROUPS, OperatorKind.TRANSFORM_WITH_STATE)
_OR_REPLAY = "or reprocess the input with a new checkpoint"
_CLOCKS = {"EventTimeTimeout", "ProcessingTimeTimeout"}


_GROUP_BY_THE_OLD = f"Group by the old columns in the old order, {_OR_REPLAY}."


@rule(
    "GRP001",
    outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_GROUP_BY_THE_OLD, *IF_KEYS_CHANGED),
    questions=(SAME_KEY, WERE_NULLS),
    is_of_state=True,
)
def group_keys(c: Comparison) -> Iterator[RuleResult]:
    """Spark finds a group's state by the values of the grouping columns, in their order.

    If the number of columns changes, Spark fails. If different columns have the same types, Spark's
    schema check passes, but no stored key matches. Each group then starts with empty state.
    """
    for pair in read_pairs(c, _KINDS):
        assert pair.before and pair.after
        old, new = pair.before.keys, pair.after.keys
        if old is None or new is None:
            continue
        if len(old) != len(new) and not check_is_off(c):
            yield _another_number(c, pair, old, new)
            continue
        yield from hardly_changed(c, pair, old, new)
        if key_change(c, old, new) is KeyChange.OTHER:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.ORPHANED,
                location=pair.location,
                before=list(old),
                after=list(new),
                because=_because(old, new),
                remedy=_GROUP_BY_THE_OLD,
                scenario="from-scratch",
            )


def _because(old: tuple[str, ...], new: tuple[str, ...]) -> str:
    if len(old) != len(new):
        return "The number of grouping columns changed, and Spark's state schema check is off."
    if sorted(old) == sorted(new):
        return "The order of the grouping columns changed."
    return "The grouping expressions changed, but not their types."


def _another_number(
    c: Comparison, pair: OperatorPair, old: tuple[str, ...], new: tuple[str, ...]
) -> RuleResult:
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=pair.location,
        before=list(old),
        after=list(new),
        because=(
            f"Number of grouping columns: {len(old)} in the old version, {len(new)} in "
            "the new version."
        ),
        error_class=c.spark.condition("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"),
        remedy=_GROUP_BY_THE_OLD,
        scenario="from-scratch",
    )


_ADD_THE_PLAN = (
    "Add the missing query plan to the evidence, for example the output of df.explain(True)."
)
_BY_WHICH_COLUMNS = "Which columns, in which order, does each version group by?"


@rule(
    "GRP002",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_THE_PLAN,),
    questions=(_BY_WHICH_COLUMNS,),
    is_of_state=True,
)
def group_keys_not_known(c: Comparison) -> Iterator[RuleResult]:
    """If types are equal, Spark's schema check passes even if the grouping columns changed.

    So Headgate must compare the grouping columns of both versions.
    """
    yield from unknown(read_pairs(c, _KINDS), "grouping columns", _BY_WHICH_COLUMNS, _ADD_THE_PLAN)


_KEEP_THE_KIND = f"Keep the timeout type (processing time or event time), {_OR_REPLAY}."


@rule("GRP003", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP_THE_KIND,))
def timeout_type_changed(c: Comparison) -> Iterator[RuleResult]:
    """Spark stores a group's timeout as a number, without the timeout type.

    If the timeout type changes, groups time out at once or never.
    """
    for pair in read_pairs(c, _KINDS):
        assert pair.before and pair.after
        old, new = (o.extra.get("timeout") for o in (pair.before, pair.after))
        if old != new and {old, new} == _CLOCKS:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.REINTERPRETED,
                location=pair.location,
                before=old,
                after=new,
                because="The timeout type (processing time or event time) changed.",
                remedy=_KEEP_THE_KIND,
                scenario="from-scratch",
            )
