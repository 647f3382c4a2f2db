"""Rules about evidence that does not suffice, and a session's own refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.model.version import Version
from headgate.rules.core.report import Outcome, Rollback
from headgate.rules.core.rule import Comparison, RuleResult, rule

_CONDITION = re.compile(r"\[(?P<name>[A-Z_][A-Z0-9_]*)[.\]]")


_FIX_THE_QUERY = "Fix the error in the query, then capture the new version again."
_CAPTURE_IT_AGAIN = (
    "Capture the new version in a session with the offset log's settings, or rehearse it on a copy "
    "of the checkpoint."
)
_CAN_SPARK_PLAN = (
    "Can Spark create the new version's query plan with the settings in the offset log?"
)


@rule(
    "EVD001",
    "no external source: the rule reports the error that Spark raised during the capture",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN),
    remedies=(_FIX_THE_QUERY, _CAPTURE_IT_AGAIN),
    questions=(_CAN_SPARK_PLAN,),
)
def capture_failed(c: Comparison) -> Iterator[RuleResult]:
    """Spark could not build the new version's query during the capture.

    If Spark can't plan the query in production either, the new version never starts, and the
    pipeline stays down. Without its query plan, Headgate can't compare the operators, so the report
    may lack other problems.
    """
    error = c.after.capture_error
    if not error:
        return
    match = _CONDITION.search(error)
    if match is None and (other := _pinned_otherwise(c)):
        yield _under_other_settings(error, other)
        return
    yield RuleResult(
        outcome=Outcome.REFUSES,
        after=error,
        because=_failed_with(error),
        error_class=match["name"] if match else None,
        remedy=_FIX_THE_QUERY,
        scenario="offline-upgrade",
    )


def _failed_with(error: str) -> str:
    return f"Spark failed with: {error.splitlines()[0].rstrip('. ')}."


def _pinned_otherwise(c: Comparison) -> list[str]:
    """Return the settings that a restart takes from the offset log, and this session has others."""
    pinned, session = c.before.pinned, c.after.settings
    return sorted(k for k, v in pinned.items() if k in session and session[k] != v)


def _under_other_settings(error: str, settings: list[str]) -> RuleResult:
    """Planning failed with settings that a restart does not use; analysis has conditions."""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        after=error,
        because=(
            f"{_failed_with(error)} On a restart, Spark takes these settings from the offset log, "
            f"not from the session: {', '.join(settings)}."
        ),
        question=_CAN_SPARK_PLAN,
        rollback=Rollback.UNKNOWN,
        remedy=_CAPTURE_IT_AGAIN,
    )


_ADD_ITS_EXPLAIN = (
    "Add the version's explain() output, its query plan as JSON, or its entry point "
    "(module:function) to the evidence."
)
_WHAT_IS_THE_PLAN = "What is the query plan of the {side} version?"


@rule(
    "EVD002",
    "no external source: the rule only checks whether the evidence has a query plan or a "
    "checkpoint",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_ITS_EXPLAIN,),
    questions=(_WHAT_IS_THE_PLAN,),
)
def plan_missing(c: Comparison) -> Iterator[RuleResult]:
    """A comparison needs a query plan or a checkpoint of each version.

    Without either, Headgate knows none of the version's sources, operators and sinks. The new
    version may fail to start or write wrong results, and no other rule can find out.
    """
    for side, version in (("old", c.before), ("new", c.after)):
        if _is_empty(version) and not version.capture_error:
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                because=f"The evidence of the {side} version has no query plan.",
                question=_WHAT_IS_THE_PLAN.format(side=side),
                rollback=Rollback.UNKNOWN,
                remedy=_ADD_ITS_EXPLAIN,
            )


def _is_empty(version: Version) -> bool:
    return not version.topology.nodes and version.stateful is None and version.sources is None
