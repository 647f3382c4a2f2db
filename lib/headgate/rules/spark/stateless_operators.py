"""Rules about what holds no state: projections, filters, stream-static joins, triggers."""

from __future__ import annotations

import json
from collections.abc import Iterator

from headgate.model.version import Source
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


@rule("TRF001", outcomes=(Outcome.RESUMES,))
def stateless_change(c: Comparison) -> Iterator[RuleResult]:
    """You can change a stateless operator: Spark processes new rows with the new version.

    If a stateful operator follows, its state mixes results of the old and the new version.
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


# They decide which time a text is. Without a zone in the text, `timeZone` does.
_OF_TIMES = frozenset({"timezone", "timestampformat", "timestampntzformat", "dateformat"})
_SAME_TIMES = "With the new value of {key}, does Spark parse each text to the same time as before?"
_KEEP_THE_OPTION = "Keep the old value, or reprocess the input with a new checkpoint."


@rule(
    "TRF002",
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_KEEP_THE_OPTION,),
    questions=(_SAME_TIMES,),
)
def source_option(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record this option of the source, so the new value takes effect.

    If the option decides which times Spark reads and these times differ, new rows go to other
    windows and keys than old rows, or Spark drops them as late.
    """
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        if not (pair.before.options and pair.after.options):
            continue
        if family(pair.before) != family(pair.after):
            continue
        # The code's spelling, of the new version if both have one.
        names = {k.lower(): k for k in (*pair.before.options, *pair.after.options)}
        for key in sorted(names.keys() - _OWN_RULE):
            old, new = option(pair.before, key), option(pair.after, key)
            if old == new:
                continue
            is_open = c.is_stateful and key in _OF_TIMES and _has_times(pair.after)
            yield RuleResult(
                outcome=Outcome.UNKNOWN if is_open else Outcome.RESUMES,
                state_effect=None
                if is_open
                else StateEffect.EXACT
                if c.is_stateful
                else StateEffect.NONE,
                location=pair.location,
                before=old,
                after=new,
                because=f"Option {names[key]} changed.",
                question=_SAME_TIMES.format(key=names[key]) if is_open else None,
                remedy=_KEEP_THE_OPTION if is_open else "",
            )


def _has_times(source: Source) -> bool:
    """Say whether a source may have a column of times; it may if no plan has its types."""
    kinds = source.column_types
    return kinds is None or any(k in json.dumps(kinds) for k in ("timestamp", "date"))


_CAPTURE_THE_OLD = "Capture the old version, too: `headgate capture module:function`."
_START_FROM_AN_EMPTY = "Keep a micro-batch trigger, or start with a new checkpoint."
_DID_THE_OLD = "Did the old version use a micro-batch trigger or a continuous trigger?"
_KEEP_MICRO_BATCHES = "Keep a micro-batch trigger."
_CAN_EACH_SOURCE = (
    "Can each source's continuous mode read the offsets that earlier micro-batches wrote to the "
    "checkpoint?"
)


@rule(
    "TRG001",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN),
    remedies=(_CAPTURE_THE_OLD, _KEEP_MICRO_BATCHES, _START_FROM_AN_EMPTY),
    questions=(_DID_THE_OLD, _CAN_EACH_SOURCE),
)
def continuous_trigger(c: Comparison) -> Iterator[RuleResult]:
    """Continuous processing parses a source's offsets differently from micro-batch processing.

    The rate source's micro-batch offset is a number, but its continuous mode expects an object.
    """
    if "continuous" in (c.before.trigger or {}) or "continuous" not in (c.after.trigger or {}):
        return
    if c.before.trigger is None:
        yield _trigger_not_known(c)
        return
    reason, error = _not_continuous(c)
    if reason:
        is_of_offsets = error == _OF_OFFSETS
        yield RuleResult(
            outcome=Outcome.REFUSES,
            before=c.before.trigger,
            after=c.after.trigger,
            because=reason,
            error_class=error,
            remedy=_START_FROM_AN_EMPTY if is_of_offsets else _KEEP_MICRO_BATCHES,
            scenario="from-scratch" if is_of_offsets else "offline-upgrade",
        )
    else:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            before=c.before.trigger,
            after=c.after.trigger,
            because="The trigger is now continuous.",
            question=_CAN_EACH_SOURCE,
            rollback=Rollback.UNKNOWN,
            remedy=_START_FROM_AN_EMPTY,
        )


# What the rate source fails with on an offset of micro-batches; any other error needs other code.
_OF_OFFSETS = "MappingException"


def _not_continuous(c: Comparison) -> tuple[str | None, str | None]:
    """Return why Spark refuses continuous processing, in its own order, and its error class.

    What it names by a number has no better name in 4.2: `DataStreamWriter` and
    `UnsupportedOperationChecker.checkForContinuous`.
    """
    if c.after.sink and c.after.sink.format == "foreachBatch":
        return "Continuous processing doesn't support foreachBatch.", "_LEGACY_ERROR_TEMP_1195"
    if c.after.stateful:
        return (
            "Continuous processing doesn't support stateful operators."
        ), "_LEGACY_ERROR_TEMP_3102"
    if "file" in {family(s) for s in c.after.sources or ()}:
        return "Continuous processing doesn't support file sources.", "_LEGACY_ERROR_TEMP_3102"
    if "rate" in {family(s) for s in c.before.sources or ()}:
        return "The trigger is now continuous, and the query has a rate source.", _OF_OFFSETS
    return None, None


def _trigger_not_known(c: Comparison) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        after=c.after.trigger,
        because=(
            "The new version's trigger is continuous. The old version's trigger is not in the "
            "evidence."
        ),
        question=_DID_THE_OLD,
        rollback=Rollback.UNKNOWN,
        remedy=_CAPTURE_THE_OLD,
    )


_DOES_THE_NEW = "Does the new version start in real-time mode? `headgate rehearse` tests this."


@rule(
    "TRG003",
    "Spark's RealTimeModeAllowlist (4.1 and 4.2); measured on 4.2.0",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN),
    remedies=(_KEEP_MICRO_BATCHES,),
    questions=(_DOES_THE_NEW,),
)
def real_time_trigger(c: Comparison) -> Iterator[RuleResult]:
    """Real-time mode supports only output mode update, and only some operators and sinks.

    In Spark 4.1 and 4.2, real-time mode supports no stateful operators and no shuffles. It supports
    only the sinks Kafka, foreach, memory and console.
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
        scenario="offline-upgrade" if reason else None,
    )


def _not_in_real_time(c: Comparison) -> str | None:
    """Return why Spark refuses the query at its start, None where nothing says so."""
    mode, sink = output_mode(c.after), c.after.sink
    if mode not in (None, "update"):
        return f"Real-time mode supports only output mode update, but the query uses {mode}."
    if (c.after.settings.get(_REAL_TIME_CHECK) or "").lower() == "false":
        return None
    if sink and sink.format and not sink.traits.in_real_time:
        return f"Real-time mode doesn't support the sink {sink.format}."
    if c.after.stateful and not c.spark.at_least(4, 3):
        return "The query has stateful operators, which real-time mode doesn't support."
    return None


@rule("TRG002", outcomes=(Outcome.RESUMES,))
def trigger_changed(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record the trigger, so the new trigger takes effect.

    Offsets and state stay valid. But with once or availableNow, the query stops when it has read
    the available records. Without a schedule that restarts it, consumers get no new results.
    """
    old, new = c.before.trigger, c.after.trigger
    if old and new and old != new and not {"continuous", "realTime"} & {*old, *new}:
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
            before=old,
            after=new,
        )
