"""Rules about the output mode."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind, Version
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.event_time import AGGREGATES, keyed_by_time, output_mode

_MODE_ERROR = "STREAMING_OUTPUT_MODE"
_OTHER_ERROR = "_LEGACY_ERROR_TEMP_3102"
_CHECKER = "Spark's UnsupportedOperationChecker; measured on 4.2.0"


_CHOOSE_A_MODE = "Choose an output mode that the query's operators support."
_ADD_A_WATERMARK = (
    "Set a watermark on a grouping column, or choose an output mode that the query's operators "
    "support."
)


@rule("MOD001", _CHECKER, outcomes=(Outcome.REFUSES,), remedies=(_CHOOSE_A_MODE, _ADD_A_WATERMARK))
def mode_not_supported(c: Comparison) -> Iterator[RuleResult]:
    """Some operators don't support every output mode.

    In an unsupported mode the query fails at its start, before it writes anything.
    """
    mode = output_mode(c.after)
    problem = _problem(c.after, mode)
    if problem is None or _problem(c.before, output_mode(c.before)) == problem:
        return
    reason, error = problem
    yield RuleResult(
        outcome=Outcome.REFUSES,
        location=c.sink_location,
        before=output_mode(c.before),
        after=mode,
        because=reason,
        error_class=c.spark.condition(error),
        remedy=_ADD_A_WATERMARK if mode == "append" else _CHOOSE_A_MODE,
        scenario="offline-upgrade",
    )


_USE_APPEND_MODE = "Use append mode, or foreachBatch."


@rule("MOD004", _CHECKER, outcomes=(Outcome.REFUSES,), remedies=(_USE_APPEND_MODE,))
def mode_not_supported_by_sink(c: Comparison) -> Iterator[RuleResult]:
    """A file sink supports only append mode. Spark's analysis fails for other modes.

    A file sink can't change rows in files that it has already written. Spark therefore fails to
    start the query, before anything is written, and the pipeline stays down.
    """
    sink, mode = c.after.sink, output_mode(c.after)
    if sink is None or mode in (None, "append") or not sink.is_files:
        return
    yield RuleResult(
        outcome=Outcome.REFUSES,
        location=c.sink_location,
        before=output_mode(c.before),
        after=mode,
        because=f"The sink writes files ({sink.format}), but the output mode is {mode}.",
        error_class=c.spark.condition(_MODE_ERROR),
        remedy=_USE_APPEND_MODE,
        scenario="offline-upgrade",
    )


_LET_THE_OLD = (
    "Before you change the output mode, let the old version emit its open groups: send newer "
    "records, which advance the watermark. Or reprocess the input with a new checkpoint."
)


@rule("MOD002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_LET_THE_OLD,))
def held_back_output(c: Comparison) -> Iterator[RuleResult]:
    """In append mode an aggregate holds groups back until the watermark has passed them.

    After a change to update mode, Spark emits these groups only if new rows change them. After a
    change to complete mode, results lack all groups that Spark has already evicted from the state.
    """
    change = _change(c)
    if change is None or change[0] != "append" or not _has(c.before, *AGGREGATES):
        return
    yield RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.LOST,
        location=c.sink_location,
        before=change[0],
        after=change[1],
        because="The old output mode was append.",
        remedy=_LET_THE_OLD,
        scenario="from-scratch",
    )


@rule("MOD003", outcomes=(Outcome.RESUMES,))
def mode_changed(c: Comparison) -> Iterator[RuleResult]:
    """The output mode doesn't change the state. It only decides which rows Spark emits.

    The state isn't lost, but consumers get other rows. Complete mode writes the whole result in
    each batch, update mode only changed rows, and append mode only final rows. A sink that only
    adds rows may then store several rows for each key.
    """
    change = _change(c)
    if change is None or (change[0] == "append" and _has(c.before, *AGGREGATES)):
        return
    again = change[1] == "append" and _has(c.after, *AGGREGATES)
    yield RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.EXACT,
        location=c.sink_location,
        before=change[0],
        after=change[1],
        because="Groups that were already emitted are emitted again when their window closes."
        if again
        else "",
    )


def _change(c: Comparison) -> tuple[str, str] | None:
    old, new = output_mode(c.before), output_mode(c.after)
    if old is None or new is None or old == new or _problem(c.after, new):
        return None
    return old, new


def _problem(version: Version, mode: str | None) -> tuple[str, str] | None:
    """Return reason and condition if analysis fails; None if it doesn't, or if that is unknown."""
    if mode is None or version.stateful is None:
        return None
    if mode == "complete" and not _has(version, *AGGREGATES):
        return "Complete mode requires an aggregation.", _MODE_ERROR
    if mode == "update":
        return _problem_of_update(version)
    return _problem_of_append(version) if mode == "append" else None


def _problem_of_update(version: Version) -> tuple[str, str] | None:
    if _has(version, OperatorKind.SESSION_AGGREGATE):
        return "Session windows don't work in update mode.", _MODE_ERROR
    if _has(version, OperatorKind.LIMIT):
        return "`limit()` doesn't work in update mode.", _OTHER_ERROR
    outer = [
        o
        for o in version.stateful or ()
        if o.kind is OperatorKind.STREAM_JOIN and "inner" not in (o.join_type or "inner").lower()
    ]
    return ("Outer joins of two streams work only in append mode.", _OTHER_ERROR) if outer else None


def _problem_of_append(version: Version) -> tuple[str, str] | None:
    for operator in version.stateful or ():
        if operator.kind not in AGGREGATES:
            continue
        if operator.keys is None:
            return None
        if not keyed_by_time(operator, version.watermarks):
            return "Append mode requires a watermark on a grouping column.", _MODE_ERROR
    return None


def _has(version: Version, *kinds: OperatorKind) -> bool:
    return any(o.kind in kinds for o in version.stateful or ())
