"""Rules about code that no evidence shows: Python, Scala and Java functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.model.sinks import sink_format
from headgate.model.version import OperatorKind, Version
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.upstream import feeding_state
from headgate.rules.spark.facts.state_variables import variables, variables_known
from headgate.rules.spark.facts.version_identity import looks_equal

PROCESSOR = "stateful_processor"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Body:
    """One function on both sides; a hash is None where the evidence has no body of it."""

    name: str
    before: str | None
    after: str | None

    @property
    def is_known(self) -> bool:
        """Say whether both bodies were captured."""
        return self.before is not None and self.after is not None

    @property
    def changed(self) -> bool:
        """Say whether the code is certainly another."""
        return self.is_known and self.before != self.after


def body(c: Comparison, old: str | None, new: str | None) -> Body:
    """Return a function of each side as one; names are those of the plans."""
    return Body(new or old or "?", _hash(c.before, old), _hash(c.after, new))


def processors(c: Comparison) -> Body | None:
    """Return the code of all transformWithState processors as one; None if no side has any.

    Plans call each by PySpark's own wrapper, so that names don't distinguish several: they are
    compared in the order in which the code makes them.
    """
    old, new = (_of_kind(v, PROCESSOR) for v in (c.before, c.after))
    names = sorted(
        {f.name for v in (c.before, c.after) for f in v.functions if f.kind == PROCESSOR}
    )
    return Body(", ".join(names), old, new) if old or new else None


def called(c: Comparison) -> Iterator[Body]:
    """Yield the functions that a version calls on rows, by name; those of operators are not."""
    of_state = {
        o.extra.get("function")
        for v in (c.before, c.after)
        for o in v.stateful or ()
        if o.kind is OperatorKind.MAP_GROUPS
    }
    for name in sorted((_names(c.before) | _names(c.after)) - of_state):
        yield body(c, name, name)


def feeds_state(c: Comparison, name: str) -> bool:
    """Say whether a function's results may get into the state; True where no node shows it."""
    seen = False
    for topology in (c.before.topology, c.after.topology):
        feeding = feeding_state(topology)
        for node in topology.nodes:
            if name in (node.details.get("user_functions") or ()):
                seen = True
                if node.id in feeding:
                    return True
    return not seen


def short(found: str | None) -> str:
    """Return the beginning of a hash, enough to distinguish two."""
    return found[:_SHOWN] if found else "not captured"


def _names(version: Version) -> set[str]:
    rows = (f for f in version.functions if f.kind != PROCESSOR)
    captured = {f.name for f in rows if not sink_format(f.kind).calls_function}
    return captured | set(version.user_functions)


def _hash(version: Version, name: str | None) -> str | None:
    """Return the hash of a function by its name; of several so called all of them together."""
    found = sorted({f.hash for f in version.functions if f.name == name})
    return " ".join(found) or None


def _of_kind(version: Version, kind: str) -> str | None:
    return " ".join(f.hash for f in version.functions if f.kind == kind) or None


_REMEDY = (
    "Rehearse the new version on a copy of the checkpoint, or reprocess the input with a new "
    "checkpoint."
)


_CAPTURE_THE_NEW = (
    "Capture the new version with `headgate capture module:function`, or rehearse it on a copy "
    "of the checkpoint."
)
_ADD_THE_CHECKPOINT = (
    "Add the old version's checkpoint to the evidence, or rehearse the new version on a copy of "
    "the checkpoint."
)
_CAPTURE_THE_OLD = (
    "Capture the old version, too, or rehearse the new version on a copy of the checkpoint."
)
_WHICH_STATE_VARIABLES = (
    "Which state variables (kind, type, TTL) does the processor of the {side} version declare?"
)
_DID_THE_CODE = "Did the code of {name} change so that state variables have a different meaning?"
_DOES_THE_NEW = (
    "Does the new code of {code} interpret the stored values in the same way as the old code?"
)


@rule(
    "FUN001",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_CAPTURE_THE_NEW, _ADD_THE_CHECKPOINT, _CAPTURE_THE_OLD, _REMEDY),
    questions=(_WHICH_STATE_VARIABLES, _DID_THE_CODE, _DOES_THE_NEW),
)
def state_variables(c: Comparison) -> Iterator[RuleResult]:
    """A transformWithState processor declares its state variables in code, which the query plan
    doesn't show.

    The checkpoint and a capture of the code show the variables. Only the code shows how the
    processor uses a variable.
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


def _variables_not_known(pair: OperatorPair) -> RuleResult:
    both = (("old", pair.before), ("new", pair.after))
    side = " and ".join(word for word, operator in both if variables(operator) is None)
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        because=f"The evidence doesn't show the state variables of the {side} version.",
        question=_WHICH_STATE_VARIABLES.format(side=side),
        rollback=Rollback.UNKNOWN,
        remedy=_ADD_THE_CHECKPOINT if side == "old" else _CAPTURE_THE_NEW,
    )


def _unseen(pair: OperatorPair, name: str) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        because=(
            "The evidence has the state variables of both versions, but lacks the code of at least "
            "one version."
        ),
        question=_DID_THE_CODE.format(name=name),
        rollback=Rollback.SAFE,
        remedy=_CAPTURE_THE_OLD,
    )


def _changed(pair: OperatorPair, code: Body) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=short(code.before),
        after=short(code.after),
        because=(
            f"The code of {code.name} changed (SHA-256 {short(code.before)} -> "
            f"{short(code.after)})."
        ),
        question=_DOES_THE_NEW.format(code=code.name),
        rollback=Rollback.SAFE,
        remedy=_REMEDY,
    )


_SET_IT_TO_THE_OLD = "Keep the old time mode and output mode."


@rule(
    "FUN004",
    "Spark's error condition STATE_STORE_INVALID_CONFIG_AFTER_RESTART (4.x)",
    outcomes=(Outcome.REFUSES,),
    remedies=(_SET_IT_TO_THE_OLD,),
)
def operator_properties(c: Comparison) -> Iterator[RuleResult]:
    """transformWithState records its time mode and output mode.

    Spark compares both on a restart, and fails if one changed.
    """
    for pair in c.operators:
        if pair.kind is not OperatorKind.TRANSFORM_WITH_STATE:
            continue
        assert pair.before and pair.after
        for key, word in (("time_mode", "time mode"), ("operator_output_mode", "output mode")):
            old, new = pair.before.extra.get(key), pair.after.extra.get(key)
            if old and new and str(old).lower() != str(new).lower():
                yield RuleResult(
                    outcome=Outcome.REFUSES,
                    location=pair.location,
                    before=old,
                    after=new,
                    because=f"The {word} changed.",
                    error_class="STATE_STORE_INVALID_CONFIG_AFTER_RESTART",
                    remedy=_SET_IT_TO_THE_OLD,
                )


_DID_THE_BODY = (
    "Did the code of the state function change so that stored values have a different meaning?"
)


@rule(
    "FUN002",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_REMEDY,),
    questions=(_DOES_THE_NEW, _DID_THE_BODY),
)
def state_function(c: Comparison) -> Iterator[RuleResult]:
    """Only the code of a state function shows how the function uses its state.

    The query plan doesn't contain that code.
    """
    for pair in c.operators:
        if pair.kind is not OperatorKind.MAP_GROUPS:
            continue
        assert pair.before and pair.after
        code = body(c, pair.before.extra.get("function"), pair.after.extra.get("function"))
        if code.changed:
            yield _changed(pair, code)
        elif not code.is_known and (_is_renamed(pair) or looks_equal(c)):
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                because="The name of the state function changed."
                if _is_renamed(pair)
                else "Headgate found no difference between the versions.",
                question=_DID_THE_BODY,
                rollback=Rollback.SAFE,
                remedy=_REMEDY,
            )


def _is_renamed(pair: OperatorPair) -> bool:
    assert pair.before and pair.after
    old, new = (o.extra.get("function") for o in (pair.before, pair.after))
    return None not in (old, new) and old != new


_CAPTURE_BOTH_VERSIONS = (
    "Capture both versions, or rehearse the new version on a copy of the checkpoint."
)
_DOES_STILL_GIVE = (
    "Does the new code of {code} give the same results for the same rows? If not, state "
    "mixes old and new results."
)
_DID_THE_BODY_OF_CHANGE = "Did the code of {unseen} change?"


@rule(
    "FUN003",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_REMEDY, _CAPTURE_BOTH_VERSIONS),
    questions=(_DOES_STILL_GIVE, _DID_THE_BODY_OF_CHANGE),
)
def user_function(c: Comparison) -> Iterator[RuleResult]:
    """Query plans don't contain the code of user-defined functions.

    If the code changed, state keeps results of the old code.
    """
    if not c.is_stateful:
        return
    found = list(called(c))
    for code in (b for b in found if b.changed and feeds_state(c, b.name)):
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            before=short(code.before),
            after=short(code.after),
            because=(
                f"The code of {code.name} changed (SHA-256 {short(code.before)} -> "
                f"{short(code.after)})."
            ),
            question=_DOES_STILL_GIVE.format(code=code.name),
            rollback=Rollback.SAFE,
            remedy=_REMEDY,
        )
    unseen = [b.name for b in found if not b.is_known and feeds_state(c, b.name)]
    if unseen and looks_equal(c):
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            before=unseen,
            after=unseen,
            because="Headgate found no difference between the versions.",
            question=_DID_THE_BODY_OF_CHANGE.format(unseen=", ".join(unseen)),
            rollback=Rollback.SAFE,
            remedy=_CAPTURE_BOTH_VERSIONS,
        )
