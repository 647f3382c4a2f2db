"""Rules about settings: pinned by the offset log, or not."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.pinned_settings import (
    ANSI,
    CHECKPOINT_FORMAT,
    ENCODING,
    LOG_INTERVAL,
    OFFSET_LOG,
    PARTITIONS,
    PINNED,
    PROVIDER,
    SINK_EVOLUTION,
    SINK_LOG_INTERVAL,
    SOURCE_SETTINGS,
    TIME_ZONE,
    differing,
    effective,
    recorded,
    set_by_somebody,
    stored_partitions,
)
from headgate.rules.spark.facts.state_stores import SCHEMA_CHECK
from headgate.rules.spark.facts.time_zone import may_read_time_zone, reads_time_zone, session_zones
from headgate.rules.spark.sql_settings import changes_meaning, decides_what_is_read

_OWN_RULE = {
    *(ANSI, CHECKPOINT_FORMAT, ENCODING, LOG_INTERVAL, OFFSET_LOG, PARTITIONS),
    *(SCHEMA_CHECK, SINK_LOG_INTERVAL, TIME_ZONE),
}


_TO_USE_THE_NEW = "To use the new value, start with a new checkpoint."


@rule("CFG001", outcomes=(Outcome.NO_EFFECT,), remedies=(_TO_USE_THE_NEW,))
def pinned_setting(c: Comparison) -> Iterator[RuleResult]:
    """The offset log pins this setting: Spark logs a warning and ignores the session's value.

    A new value takes effect only with a new checkpoint.
    """
    for key in sorted(PINNED - SOURCE_SETTINGS):
        kept, wanted = recorded(c.before, key), effective(c.after, key)
        if not set_by_somebody(c, key) or kept is None or wanted is None:
            continue
        if kept.lower() == wanted.lower() or _refused_by_analysis(c, key):
            continue
        yield _no_effect(key, kept, wanted)


_SET_TO_IF = (
    f"Set {PARTITIONS} to {{stored}}. If you started the new version, stop it. If the newest batch "
    "N in `offsets` has no commits/N, delete offsets/N before the next start."
)
_SET_TO = f"Set {PARTITIONS} to {{stored}}."
_ADD_THE_OLD = "Add the old version's checkpoint to the evidence, or keep the old value."
_IN_WHICH_VERSION = (
    "Which format version does the offset log have (first line of each file in `offsets`)? How "
    f"many partitions does the state have? Version 1 pins {PARTITIONS}. Version 2 doesn't "
    "always pin this setting."
)


@rule(
    "CFG002",
    outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.NO_EFFECT),
    remedies=(_TO_USE_THE_NEW, _SET_TO_IF, _SET_TO, _ADD_THE_OLD),
    questions=(_IN_WHICH_VERSION,),
)
def shuffle_partitions(c: Comparison) -> Iterator[RuleResult]:
    """The number of state partitions is fixed when state is first written.

    Offset log v1 pins this number. Offset log v2 doesn't record it in a query's first run (Spark
    4.2.0). If the setting is lower than this number, Spark ignores the remaining partitions and
    loses their keys. If the setting is higher, Spark fails on missing state files.
    """
    wanted = effective(c.after, PARTITIONS)
    pinned = c.before.pinned.get(PARTITIONS)
    stored = stored_partitions(c.before)
    if wanted is None or not wanted.isdecimal() or not c.is_stateful:
        return
    if not set_by_somebody(c, PARTITIONS):
        return
    if pinned is not None:
        if pinned != wanted:
            yield _no_effect(PARTITIONS, pinned, wanted)
    elif stored == int(wanted):
        return
    elif c.before.offset_log_version == 2 and stored is not None:
        yield _not_recorded(stored, int(wanted))
    elif (old := effective(c.before, PARTITIONS)) != wanted:
        yield _log_not_known(old, wanted)


@rule("CFG003", outcomes=(Outcome.RESUMES,))
def stateless_partitions(c: Comparison) -> Iterator[RuleResult]:
    """A query without state uses the session's shuffle partitions and ignores those in the offset
    log.

    No rows are lost, because no state depends on the number of partitions. Only the number of
    tasks, and of output files in each batch, can change.
    """
    new = effective(c.after, PARTITIONS) if set_by_somebody(c, PARTITIONS) else None
    old = c.before.pinned.get(PARTITIONS, effective(c.before, PARTITIONS))
    if c.before.stateful == () and new is not None and old not in (None, new):
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.NONE,
            before=old,
            after=new,
            because=f"The new value of {PARTITIONS} takes effect.",
        )


@rule("CFG004", outcomes=(Outcome.NO_EFFECT,), remedies=(_TO_USE_THE_NEW,))
def offset_log_format(c: Comparison) -> Iterator[RuleResult]:
    """An existing offset log keeps its format version. Spark ignores the setting.

    The query continues without an error. But a feature that needs the new format doesn't take
    effect. For example, Spark matches sources by name only with format 2.
    """
    wanted, kept = effective(c.after, OFFSET_LOG), c.before.offset_log_version
    if not set_by_somebody(c, OFFSET_LOG):
        return
    if wanted is not None and kept is not None and wanted != str(kept):
        yield _no_effect(OFFSET_LOG, str(kept), wanted)


_SET_IT_TO_THE_VALUE = f"Set {CHECKPOINT_FORMAT} to the value that the checkpoint was written with."


@rule("CFG005", outcomes=(Outcome.REFUSES,), remedies=(_SET_IT_TO_THE_VALUE,))
def checkpoint_format(c: Comparison) -> Iterator[RuleResult]:
    """The offset log doesn't record the format of state checkpoints.

    Spark can't read state checkpoints in a different format. In format 2, state checkpoints have
    ids, which only the RocksDB provider supports.
    """
    old, new = (effective(v, CHECKPOINT_FORMAT) or "1" for v in (c.before, c.after))
    provider = c.before.pinned.get(PROVIDER, effective(c.before, PROVIDER) or "")
    if old == new or not c.is_stateful or not c.spark.at_least(4, 0):
        return
    if "HDFSBacked" in provider:
        condition = "STATE_STORE_CHECKPOINT_IDS_NOT_SUPPORTED" if new == "2" else None
    elif "RocksDB" in provider:
        condition = "CANNOT_LOAD_STATE_STORE" if old == "2" else "CANNOT_WRITE_STATE_STORE"
        condition = condition if c.spark.at_least(4, 2) else "INVALID_LOG_VERSION"
    else:
        condition = None
    if condition:
        yield RuleResult(
            outcome=Outcome.REFUSES,
            before=old,
            after=new,
            because=f"{CHECKPOINT_FORMAT} changed.",
            error_class=condition,
            remedy=_SET_IT_TO_THE_VALUE,
        )


_LEAVE_THE_ENCODING = f"Set {ENCODING} to unsaferow."


@rule("CFG006", outcomes=(Outcome.REFUSES,), remedies=(_LEAVE_THE_ENCODING,))
def avro_encoding_of_state(c: Comparison) -> Iterator[RuleResult]:
    """Avro encoding of state is only for transformWithState.

    Spark's analysis fails for other operators.
    """
    new = c.after.settings.get(ENCODING)
    old = c.before.settings.get(ENCODING)
    if new != "avro" or old == "avro" or not c.after.stateful or _only_transform_with_state(c):
        return
    yield RuleResult(
        outcome=Outcome.REFUSES,
        before=old or c.before.pinned.get(ENCODING),
        after=new,
        because=f"{ENCODING} is avro.",
        error_class="_LEGACY_ERROR_TEMP_3102",
        remedy=_LEAVE_THE_ENCODING,
        scenario="offline-upgrade",
    )


_SET_THE_SESSIONS = f"Set {TIME_ZONE} to the old value."
_SET_THE_SAME = f"Set {TIME_ZONE} to the same value in both versions."
_WHICH_TIME_ZONE = f"Which time zone does the version without {TIME_ZONE} use?"
_IS_THAT_NUMBER = (
    "Is the state key computed from text without a UTC offset? A key computed from a timestamp "
    "is the same in every time zone."
)


@rule(
    "CFG007",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_SET_THE_SESSIONS, _SET_THE_SAME),
    questions=(_WHICH_TIME_ZONE, _IS_THAT_NUMBER),
)
def time_zone(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record the session time zone.

    If a state key is a date or a formatted time, the same timestamp gets a different key in a
    different time zone. Windows over timestamps don't depend on the time zone.
    """
    old, new = session_zones(c)
    hit = next((p for p in c.operators if p.before and reads_time_zone(p.before.keys or ())), None)
    if old == new:
        return
    if old is None or new is None:
        yield from _time_zone_not_known(old, new, hit)
        return
    if hit is None and (pair := _maybe_of_texts(c)):
        yield _of_texts(old, new, pair)
        return
    yield RuleResult(
        outcome=Outcome.SILENTLY_WRONG if hit else Outcome.RESUMES,
        state_effect=StateEffect.ORPHANED if hit else _effect_of_time_zone(c),
        location=hit.location if hit else Location(),
        before=old,
        after=new,
        because=f"{TIME_ZONE} changed, and a state key depends on the time zone."
        if hit
        else f"{TIME_ZONE} changed.",
        remedy=_SET_THE_SESSIONS if hit else "",
    )


_USE_TRY_CAST = f"Use try_cast and similar functions, or set {ANSI}=false."
_DOES_THE_INPUT = (
    "Does the input have rows for which a cast, a division or an array index returned null? Such "
    "rows now make the batch fail (CAST_INVALID_INPUT and similar errors)."
)


@rule(
    "CFG008",
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_USE_TRY_CAST,),
    questions=(_DOES_THE_INPUT,),
)
def ansi_mode(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record ANSI mode.

    With ANSI mode off, an invalid cast, a division by zero or a wrong array index returns null.
    With ANSI mode on, the batch fails.
    """
    old, new = (effective(v, ANSI) for v in (c.before, c.after))
    if old is None or new is None or old.lower() == new.lower() or not c.spark.at_least(4, 0):
        return
    if new.lower() == "false":
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
            before=old,
            after=new,
            because="The new version switches ANSI mode off.",
        )
        return
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        before=old,
        after=new,
        because="The new version switches ANSI mode on.",
        question=_DOES_THE_INPUT,
        remedy=_USE_TRY_CAST,
    )


_NAME_THE_SINK = f"Name the sink with DataStreamWriter.name, or set {SINK_EVOLUTION}=false."
_DOES_THE_NEW = "Does the new version's sink have a name (DataStreamWriter.name)?"


@rule("CFG010", outcomes=(Outcome.UNKNOWN,), remedies=(_NAME_THE_SINK,), questions=(_DOES_THE_NEW,))
def sink_evolution(c: Comparison) -> Iterator[RuleResult]:
    """If sink evolution is on, Spark's analysis fails for a sink without a name.

    The evidence doesn't show names of sinks.
    """
    if (c.after.settings.get(SINK_EVOLUTION) or "").lower() == "true":
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            after="true",
            because=f"The new version sets {SINK_EVOLUTION}=true.",
            question=_DOES_THE_NEW,
            remedy=_NAME_THE_SINK,
        )


@rule(
    "CFG009",
    "Spark's documentation of each setting; some settings measured on Spark 4.2.0",
    outcomes=(Outcome.RESUMES,),
)
def unpinned_setting_changed(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't pin this setting, so the new value takes effect.

    The setting doesn't change state.
    """
    for key, (old, new) in differing(c).items():
        if key in PINNED or key in _OWN_RULE or not key.startswith("spark.sql."):
            continue
        if changes_meaning(key) or decides_what_is_read(key):
            continue
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
            before=old,
            after=new,
            because=f"{key} changed.",
        )


def _refused_by_analysis(c: Comparison, key: str) -> bool:
    return key == ENCODING and not _only_transform_with_state(c)


def _no_effect(key: str, recorded: str, wanted: str) -> RuleResult:
    return RuleResult(
        outcome=Outcome.NO_EFFECT,
        before=recorded,
        after=wanted,
        because=f"The checkpoint pins {key} to {recorded.rsplit('.', 1)[-1]}.",
        remedy=_TO_USE_THE_NEW,
        scenario="from-scratch",
    )


def _not_recorded(stored: int, wanted: int) -> RuleResult:
    more = wanted > stored
    return RuleResult(
        outcome=Outcome.REFUSES if more else Outcome.SILENTLY_WRONG,
        state_effect=None if more else StateEffect.LOST,
        before=stored,
        after=wanted,
        because=f"The offset log doesn't pin the number of state partitions ({stored}).",
        error_class="CANNOT_LOAD_STATE_STORE" if more else None,
        rollback=Rollback.REPAIRABLE if more else Rollback.SAFE,
        remedy=_SET_TO_IF.format(stored=stored) if more else _SET_TO.format(stored=stored),
    )


def _log_not_known(old: str | None, wanted: str) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        before=old,
        after=wanted,
        because=f"{PARTITIONS} changed, and the evidence has no offset log that pins it.",
        question=_IN_WHICH_VERSION,
        rollback=Rollback.UNKNOWN,
        remedy=_ADD_THE_OLD,
    )


def _time_zone_not_known(
    old: str | None, new: str | None, hit: OperatorPair | None
) -> Iterator[RuleResult]:
    """Ask only where the answer matters: a zone that one side leaves to its machine."""
    if hit is not None:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            location=hit.location,
            before=old,
            after=new,
            because=f"Only one version sets {TIME_ZONE}, and a state key depends on the time zone.",
            question=_WHICH_TIME_ZONE,
            remedy=_SET_THE_SAME,
        )


def _maybe_of_texts(c: Comparison) -> OperatorPair | None:
    return next(
        (p for p in c.operators if p.before and may_read_time_zone(p.before.keys or ())), None
    )


def _of_texts(old: str, new: str, pair: OperatorPair) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=old,
        after=new,
        because=(
            f"{TIME_ZONE} changed, and a state key is a Unix timestamp in seconds. The same row "
            "may get a different key."
        ),
        question=_IS_THAT_NUMBER,
        remedy=_SET_THE_SESSIONS,
    )


def _effect_of_time_zone(c: Comparison) -> StateEffect:
    if not c.is_stateful:
        return StateEffect.NONE
    inside = any(p.before and reads_time_zone(p.before.functions or ()) for p in c.operators)
    return StateEffect.MIXED if inside else StateEffect.EXACT


def _only_transform_with_state(c: Comparison) -> bool:
    operators = c.after.stateful or ()
    return bool(operators) and all(o.kind is OperatorKind.TRANSFORM_WITH_STATE for o in operators)
