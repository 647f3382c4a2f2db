"""Rules about dropDuplicates and dropDuplicatesWithinWatermark."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.changed_keys import (
    IF_KEYS_CHANGED,
    REPLAY,
    SAME_KEY,
    WERE_NULLS,
    hardly_changed,
    unknown,
)
from headgate.rules.spark.facts.state_keys import KeyChange, key_change
from headgate.rules.spark.facts.state_stores import read_pairs

_KINDS = (OperatorKind.DEDUPLICATE, OperatorKind.DEDUPLICATE_WITHIN_WATERMARK)


_LIST_THE_COLUMNS = "List the columns in the old order: dropDuplicates([...])."


@rule(
    "DED001",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_LIST_THE_COLUMNS, *IF_KEYS_CHANGED),
    questions=(SAME_KEY, WERE_NULLS),
    is_of_state=True,
)
def key_columns(c: Comparison) -> Iterator[RuleResult]:
    """dropDuplicates finds seen rows by the values of its columns, in their order.

    If the columns or their order change but the types don't, Spark doesn't recognize the rows that
    it has already seen. Spark then emits duplicates. Without arguments, dropDuplicates uses all
    input columns in their order.
    """
    for pair in read_pairs(c, _KINDS):
        assert pair.before and pair.after
        old, new = pair.before.keys, pair.after.keys
        if old is None or new is None:
            continue
        yield from hardly_changed(c, pair, old, new)
        if key_change(c, old, new) is KeyChange.OTHER:
            swapped = sorted(old) == sorted(new)
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.ORPHANED,
                location=pair.location,
                before=list(old),
                after=list(new),
                because="The order of the key columns changed."
                if swapped
                else "The key expressions of dropDuplicates changed, but not their types.",
                remedy=_LIST_THE_COLUMNS if swapped else REPLAY,
                scenario="from-scratch",
            )


_ADD_THE_PLAN = (
    "Add the missing query plan to the evidence, for example the output of df.explain(True)."
)
_BY_WHICH_COLUMNS = "Which columns, in which order, does dropDuplicates use in each version?"


@rule(
    "DED002",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_THE_PLAN,),
    questions=(_BY_WHICH_COLUMNS,),
    is_of_state=True,
)
def keys_not_known(c: Comparison) -> Iterator[RuleResult]:
    """If types are equal, Spark's schema check passes even if the key columns changed.

    So Headgate must compare the key columns of both versions.
    """
    yield from unknown(read_pairs(c, _KINDS), "key columns", _BY_WHICH_COLUMNS, _ADD_THE_PLAN)
