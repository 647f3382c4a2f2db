"""Rules about code that no evidence shows: Python, Scala and Java functions."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback
from headgate.rules.core.rule import Comparison, Verdict, rule
from headgate.rules.spark.bodies import Body, body, called, feeds_state, processors, short
from headgate.rules.spark.facts.state_variables import variables_known
from headgate.rules.spark.facts.version_identity import looks_equal

_REMEDY = "Rehearse the new version on a copy of the checkpoint, or replay."


@rule("FUN001")
def state_variables(c: Comparison) -> Iterator[Verdict]:
    """transformWithState declares its variables in the processor's code; no plan shows them.

    A capture of the code does, and so does the checkpoint. What the code makes of a variable
    stands in its body alone.
    """
    for pair in c.operators:
        if pair.kind is not OperatorKind.TRANSFORM_WITH_STATE:
            continue
        if not variables_known(pair):
            yield _variables_not_known(pair)
            continue
        code = processors(c)
        if code is None or not code.is_known:
            yield _unseen(pair, code.name if code else "the processor")
        elif code.changed:
            yield _changed(pair, code)


def _variables_not_known(pair: OperatorPair) -> Verdict:
    return Verdict(
        outcome=Outcome.UNKNOWN,
        where=pair.where,
        question="Which state variables, of which kind, type and time to live, does the "
        "new processor declare, and did its code change?",
        rollback=Rollback.UNKNOWN,
        remedy="Capture the new version (`headgate capture module:function`). " + _REMEDY,
    )


def _unseen(pair: OperatorPair, name: str) -> Verdict:
    return Verdict(
        outcome=Outcome.UNKNOWN,
        where=pair.where,
        because="The state variables of both versions are known, the code of both is not.",
        question=f"Did the code of {name} change what it keeps in its state variables?",
        rollback=Rollback.SAFE,
        remedy="Capture the old version, too. " + _REMEDY,
    )


def _changed(pair: OperatorPair, code: Body) -> Verdict:
    return Verdict(
        outcome=Outcome.UNKNOWN,
        where=pair.where,
        before=short(code.before),
        after=short(code.after),
        because=f"The code of {code.name} changed (SHA-256 {short(code.before)}, now "
        f"{short(code.after)}).",
        question=f"Does the new code of {code.name} read what the old one has stored as it was "
        "meant?",
        rollback=Rollback.SAFE,
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
    for pair in c.operators:
        if pair.kind is not OperatorKind.MAP_GROUPS:
            continue
        assert pair.before and pair.after
        code = body(c, pair.before.extra.get("function"), pair.after.extra.get("function"))
        if code.changed:
            yield _changed(pair, code)
        elif not code.is_known and (_is_renamed(pair) or looks_equal(c)):
            yield Verdict(
                outcome=Outcome.UNKNOWN,
                where=pair.where,
                because="The state function has another name."
                if _is_renamed(pair)
                else "Nothing that can be seen differs.",
                question="Did the body of the state function change, so that stored values mean "
                "something else?",
                rollback=Rollback.SAFE,
                remedy=_REMEDY,
            )


def _is_renamed(pair: OperatorPair) -> bool:
    assert pair.before and pair.after
    old, new = (o.extra.get("function") for o in (pair.before, pair.after))
    return None not in (old, new) and old != new


@rule("FUN003")
def user_function(c: Comparison) -> Iterator[Verdict]:
    """A user-defined function's body is in no plan; history keeps what the old body made of it."""
    if not c.is_stateful:
        return
    found = list(called(c))
    for code in (b for b in found if b.changed and feeds_state(c, b.name)):
        yield Verdict(
            outcome=Outcome.UNKNOWN,
            before=short(code.before),
            after=short(code.after),
            because=f"The body of {code.name} changed (SHA-256 {short(code.before)}, now "
            f"{short(code.after)}).",
            question=f"Does {code.name} still give the same for the same rows, so that the "
            "history and what is added to it agree?",
            rollback=Rollback.SAFE,
            remedy=_REMEDY,
        )
    unseen = [b.name for b in found if not b.is_known and feeds_state(c, b.name)]
    if unseen and looks_equal(c):
        yield Verdict(
            outcome=Outcome.UNKNOWN,
            before=unseen,
            after=unseen,
            because="Nothing that can be seen differs.",
            question=f"Did the body of {', '.join(unseen)} change?",
            rollback=Rollback.SAFE,
            remedy="Capture both versions. " + _REMEDY,
        )
