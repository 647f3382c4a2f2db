"""Rules about code that no evidence shows: Python, Scala and Java functions."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.compat.match import OperatorPair
from headgate.compat.report import Outcome, Rollback
from headgate.compat.rule import Comparison, Verdict, rule
from headgate.compat.same import looks_equal
from headgate.model.version import OperatorKind

_REMEDY = "Rehearse the new version on a copy of the checkpoint, or replay."


@rule("FUN001")
def state_variables(c: Comparison) -> Iterator[Verdict]:
    """transformWithState declares its variables in the processor's code; no plan shows them.

    A renamed variable starts empty, another kind or type is refused, in Avro a renamed field is
    null and in UnsafeRow it is harmless.
    """
    for pair in c.operators:
        if pair.kind is OperatorKind.TRANSFORM_WITH_STATE:
            yield Verdict(
                outcome=Outcome.UNKNOWN,
                where=pair.where,
                question="Which state variables, of which kind, type and time to live, does the "
                "new processor declare, and did its code change?",
                rollback=Rollback.UNKNOWN,
                remedy=_REMEDY,
            )


@rule("FUN004", "STATE_STORE_INVALID_CONFIG_AFTER_RESTART, Spark 4.x")
def operator_properties(c: Comparison) -> Iterator[Verdict]:
    """transformWithState records its time mode and output mode and compares them on a restart."""
    for pair in c.operators:
        if pair.kind is not OperatorKind.TRANSFORM_WITH_STATE:
            continue
        assert pair.before and pair.after
        for key in ("time_mode", "operator_output_mode"):
            old, new = pair.before.extra.get(key), pair.after.extra.get(key)
            if old and new and str(old).lower() != str(new).lower():
                yield Verdict(
                    outcome=Outcome.REFUSES,
                    where=pair.where,
                    before=old,
                    after=new,
                    error_class="STATE_STORE_INVALID_CONFIG_AFTER_RESTART",
                    remedy="Set it back.",
                )


@rule("FUN002")
def state_function(c: Comparison) -> Iterator[Verdict]:
    """What a state function does with its state stands in its body, and no plan shows it."""
    for pair in _looks_equal(c, OperatorKind.MAP_GROUPS):
        yield Verdict(
            outcome=Outcome.UNKNOWN,
            where=pair.where,
            because="Nothing that can be seen differs.",
            question="Did the body of the state function change, so that stored values mean "
            "something else?",
            rollback=Rollback.SAFE,
            remedy=_REMEDY,
        )


@rule("FUN003")
def user_function(c: Comparison) -> Iterator[Verdict]:
    """A user-defined function's body is in no plan; history keeps what the old body made of it."""
    names = c.after.user_functions
    if not c.is_stateful or not names or not looks_equal(c):
        return
    yield Verdict(
        outcome=Outcome.UNKNOWN,
        before=sorted(c.before.user_functions),
        after=sorted(names),
        because="Nothing that can be seen differs.",
        question=f"Did the body of {', '.join(sorted(names))} change?",
        rollback=Rollback.SAFE,
        remedy=_REMEDY,
    )


def _looks_equal(c: Comparison, kind: OperatorKind) -> Iterator[OperatorPair]:
    if looks_equal(c):
        yield from (p for p in c.operators if p.kind is kind)
