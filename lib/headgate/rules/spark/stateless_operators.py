"""Rules about what holds no state: projections, filters, stream-static joins, triggers."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import family, option
from headgate.rules.core.upstream import changed_transforms
from headgate.rules.spark.facts.event_time import output_mode
from headgate.rules.spark.facts.source_pairs import judged_pairs

_REAL_TIME_CHECK = "spark.sql.streaming.realTimeMode.allowlistCheck"
_OWN_RULE = {
    "path",
    "subscribe",
    "subscribepattern",
    "assign",
    "kafka.bootstrap.servers",
    "startingoffsets",
    "startingtimestamp",
    "startingoffsetsbytimestamp",
    "startingoffsetsbytimestampstrategy",
}


@rule("TRF001")
def stateless_change(c: Comparison) -> Iterator[RuleResult]:
    """A part without state may change: new rows follow the new version.

    A change before a stateful operator affects only new rows in the state; the history stays as it
    was counted.
    """
    for change in changed_transforms(c):
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.MIXED
            if change.feeds_state
            else StateEffect.EXACT
            if c.is_stateful
            else StateEffect.NONE,
            location=Location(change.before, change.after),
            before=change.was,
            after=change.now,
            because=change.sentence,
        )


@rule("TRF002")
def source_option(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record rate limits and client settings of a source."""
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        if not (pair.before.options and pair.after.options):
            continue
        if family(pair.before) != family(pair.after):
            continue
        keys = {k.lower() for k in (*pair.before.options, *pair.after.options)} - _OWN_RULE
        for key in sorted(keys):
            old, new = option(pair.before, key), option(pair.after, key)
            if old != new:
                yield RuleResult(
                    outcome=Outcome.RESUMES,
                    state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
                    location=pair.location,
                    before=old,
                    after=new,
                    because=f"Option {key} changed.",
                )


_CAPTURE_THE_OLD = "Capture the old version, too."
_START_FROM_AN_EMPTY = "Start from an empty checkpoint, or keep micro-batches."
_DID_THE_OLD = "Did the old version run in micro-batches, or was its trigger continuous, too?"
_CAN_THIS_SOURCES = "Can this source's continuous mode parse its micro-batch offsets?"


@rule(
    "TRG001",
    remedies=(_CAPTURE_THE_OLD, _START_FROM_AN_EMPTY),
    questions=(_DID_THE_OLD, _CAN_THIS_SOURCES),
)
def continuous_trigger(c: Comparison) -> Iterator[RuleResult]:
    """Continuous processing parses offsets differently than micro-batches.

    The rate source's micro-batch offset is a number, but its continuous reader expects an object.
    """
    if "continuous" in (c.before.trigger or {}) or "continuous" not in (c.after.trigger or {}):
        return
    if c.before.trigger is None:
        yield _trigger_not_known(c)
        return
    reason, error = _not_continuous(c)
    if reason:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            before=c.before.trigger,
            after=c.after.trigger,
            because=reason,
            error_class=error,
            remedy=_START_FROM_AN_EMPTY,
            scenario="from-scratch",
        )
    else:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            before=c.before.trigger,
            after=c.after.trigger,
            because="The trigger is now continuous.",
            question=_CAN_THIS_SOURCES,
            rollback=Rollback.UNKNOWN,
            remedy=_START_FROM_AN_EMPTY,
        )


def _not_continuous(c: Comparison) -> tuple[str | None, str | None]:
    """Return why Spark refuses continuous processing, in its own order, and its error class.

    What it names by a number has no better name in 4.2: `DataStreamWriter` and
    `UnsupportedOperationChecker.checkForContinuous`.
    """
    if c.after.sink and c.after.sink.format == "foreachBatch":
        return "foreachBatch doesn't run in continuous mode.", "_LEGACY_ERROR_TEMP_1195"
    if c.after.stateful:
        return "Continuous processing has no stateful operators.", "_LEGACY_ERROR_TEMP_3102"
    if "file" in {family(s) for s in c.after.sources or ()}:
        return "File sources don't support continuous mode.", "_LEGACY_ERROR_TEMP_3102"
    if "rate" in {family(s) for s in c.before.sources or ()}:
        return "The trigger is now continuous.", "MappingException"
    return None, None


def _trigger_not_known(c: Comparison) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        after=c.after.trigger,
        because="The new version's trigger is continuous, the old one's is not in the evidence.",
        question=_DID_THE_OLD,
        rollback=Rollback.UNKNOWN,
        remedy=_CAPTURE_THE_OLD,
    )


_KEEP_MICRO_BATCHES = "Keep micro-batches."
_DOES_THE_NEW = "Does the new version start in real-time mode? A rehearsal shows it."


@rule(
    "TRG003",
    "RealTimeModeAllowlist, Spark 4.1-4.2; measured on 4.2.0",
    remedies=(_KEEP_MICRO_BATCHES,),
    questions=(_DOES_THE_NEW,),
)
def real_time_trigger(c: Comparison) -> Iterator[RuleResult]:
    """Real-time mode supports only update mode, and only some operators and sinks.

    In 4.1 and 4.2 it supports no operator that keeps state or shuffles. Of the sinks it supports
    Kafka, foreach, memory and the console.
    """
    if "realTime" in (c.before.trigger or {}) or "realTime" not in (c.after.trigger or {}):
        return
    reason = _not_in_real_time(c)
    yield RuleResult(
        outcome=Outcome.REFUSES if reason else Outcome.UNKNOWN,
        before=c.before.trigger,
        after=c.after.trigger,
        because=reason or "The trigger is now real-time.",
        error_class="STREAMING_REAL_TIME_MODE" if reason else None,
        question=None if reason else _DOES_THE_NEW,
        rollback=Rollback.SAFE if reason else Rollback.UNKNOWN,
        remedy=_KEEP_MICRO_BATCHES,
    )


def _not_in_real_time(c: Comparison) -> str | None:
    """Return why Spark refuses the query at its start, None where nothing says so."""
    mode, sink = output_mode(c.after), c.after.sink
    if mode not in (None, "update"):
        return f"Real-time mode needs output mode update, but it is {mode}."
    if (c.after.settings.get(_REAL_TIME_CHECK) or "").lower() == "false":
        return None
    if sink and sink.format and not sink.traits.in_real_time:
        return f"Real-time mode doesn't support the sink {sink.format}."
    if c.after.stateful and not c.spark.at_least(4, 3):
        return "The query keeps state, and real-time mode supports no stateful operators."
    return None


@rule("TRG002")
def other_trigger(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record when batches start."""
    old, new = c.before.trigger, c.after.trigger
    if old and new and old != new and not {"continuous", "realTime"} & {*old, *new}:
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
            before=old,
            after=new,
        )
