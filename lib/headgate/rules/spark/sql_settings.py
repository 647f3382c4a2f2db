"""Rules about settings that change what expressions mean; no checkpoint records them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.pinned_settings import differing

_S = "spark.sql."
# What each asks, where its value changes.
_QUESTIONS = {
    _S + "files.ignoreCorruptFiles": (
        "Does the source have unreadable files? With ignoreCorruptFiles=true, Spark silently "
        "skips their rows and marks the files as processed."
    ),
    _S + "files.ignoreMissingFiles": (
        "Were files deleted after the source listed them? With ignoreMissingFiles=true, Spark "
        "silently marks missing files as processed."
    ),
    _S + "streaming.disabledV2MicroBatchReaders": (
        "Does the setting change the source's implementation (DataSource V1 or V2)? If so, can the "
        "new implementation resume from the logged offsets?"
    ),
    _S + "streaming.disabledV2Writers": (
        "Does the setting change the sink's implementation (DataSource V1 or V2)? If so, can the "
        "new implementation continue after the old version's last batch?"
    ),
    _S + "streaming.internal.stateStore.partitions": (
        f"Why does the session set {_S}streaming.internal.stateStore.partitions? Spark itself sets "
        "this internal setting from the offset log."
    ),
}
_REBASE = (
    "Does the input have dates before 1582 or timestamps before 1900? The new rebase mode changes "
    "their values."
)
_ONLY_ON = frozenset({_S + "files.ignoreCorruptFiles", _S + "files.ignoreMissingFiles"})
_REBASED = tuple(
    f"{_S}{k}ModeInRead"
    for k in ("parquet.datetimeRebase", "parquet.int96Rebase", "avro.datetimeRebase")
)


def decides_what_is_read(key: str) -> bool:
    """Say whether a setting decides what comes from a source, or which class reads it."""
    return key in _QUESTIONS or key in _REBASED


_KEEP_THE_OLD = "Keep the old value, or rehearse the new version."


@rule(
    "CFG012",
    "Spark's documentation of the setting; not measured",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_KEEP_THE_OLD,),
    questions=(*_QUESTIONS.values(), _REBASE),
)
def setting_changes_input(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record the setting, and the query plan doesn't show its effect on the
    input.

    The state keeps rows that were read with the old setting.
    """
    for key, (old, new) in differing(c).items():
        if not decides_what_is_read(key) or (key in _ONLY_ON and (new or "").lower() != "true"):
            continue
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            before=old,
            after=new,
            because=f"{key} changed.",
            question=_QUESTIONS.get(key, _REBASE),
            rollback=Rollback.SAFE,
            remedy=_KEEP_THE_OLD,
        )


_MEANING = (
    "spark.sql.legacy.",
    "spark.sql.caseSensitive",
    "spark.sql.decimalOperations.",
    "spark.sql.jsonGenerator.",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.session.collation",
    "spark.sql.timestampType",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enforceReservedKeywords",
    "spark.sql.parser.",
    "spark.sql.function.concat",
    "spark.sql.function.elt",
    "spark.sql.readSideCharPadding",
    "spark.sql.charAsVarchar",
)
"""Prefixes of settings that change what expressions compute."""
# It decides what one function writes: other keys stay.
_JSON = "spark.sql.jsonGenerator."
_WRITES_JSON = re.compile(r"\bto_json\(|StructsToJson")
_DECIMALS = "spark.sql.decimalOperations."
_ARITHMETIC = re.compile(r" [*/%+-] ")
_TIME_PARSER = "spark.sql.legacy.timeParserPolicy"
# DateTimeFormatterHelper refuses these letters, and SimpleDateFormat took them.
_WEEK_LETTERS = frozenset("YWwu")
_QUOTED = re.compile("'[^']*'")
_WRITTEN = re.compile(
    r"\b(?:date_format|from_unixtime|to_timestamp|gettimestamp|(?:to_)?unix_timestamp)"
    r"\([^,]*, (?P<pattern>[^,()]+)"
)
_CALL = re.compile(r"\w\(")


def changes_meaning(key: str) -> bool:
    """Say whether a setting decides what an expression yields."""
    return key.startswith(_MEANING)


_KEEP_THE_OLD_VALUE = "Keep the old value."
_LEAVE_THE_POLICY = (
    "Keep spark.sql.legacy.timeParserPolicy=LEGACY, or replace the pattern with extract()."
)
_DOES_THE_SETTING = "Does the same row get a different state key under the new setting?"
_WHICH_STATE_SCHEMA = (
    "Which state schema does the new version use? `headgate capture module:function` with "
    "the new setting shows it."
)


@rule(
    "CFG011",
    "Spark's documentation of the setting. Restarts were measured only for "
    "spark.sql.legacy.timeParserPolicy",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_KEEP_THE_OLD_VALUE, _LEAVE_THE_POLICY),
    questions=(_DOES_THE_SETTING, _WHICH_STATE_SCHEMA),
)
def setting_changes_expressions(c: Comparison) -> Iterator[RuleResult]:
    """Spark computes new rows with the new setting. The state keeps the results of the old setting.

    If the key of a row changes, Spark doesn't find the row's state.
    """
    for key, (old, new) in differing(c).items():
        if not changes_meaning(key):
            continue
        if key == _TIME_PARSER and (broken := _week_pattern(c, new)):
            yield _pattern_refused(old, new, broken)
            continue
        if key.startswith(_DECIMALS) and (pair := _decimal_arithmetic(c)):
            yield _types_may_differ(key, old, new, pair)
            continue
        call = _WRITES_JSON if key.startswith(_JSON) else _CALL
        hit = next((p for p in c.operators if _is_computed(p, call)), None)
        yield RuleResult(
            outcome=Outcome.UNKNOWN if hit else Outcome.RESUMES,
            state_effect=None if hit else StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
            location=hit.location if hit else Location(),
            before=old,
            after=new,
            because=f"{key} changed."
            + (" It can change the result of an expression that computes a state key." * bool(hit)),
            question=_DOES_THE_SETTING if hit else None,
            remedy=_KEEP_THE_OLD_VALUE if hit else "",
        )


def _decimal_arithmetic(c: Comparison) -> OperatorPair | None:
    """Return the operator whose state keeps results of arithmetic over decimals."""
    for pair in c.operators:
        if pair.before is None or pair.after is None:
            continue
        expressions = (*(pair.after.keys or ()), *(pair.after.functions or ()))
        computed = [e for e in expressions if _ARITHMETIC.search(e)]
        # Expressions don't name the types of the columns that they read; what was stored does.
        schemas = [
            s for store in pair.before.stores for s in (store.key_schema, store.value_schema)
        ]
        stored = any("decimal(" in str(f.type) for s in schemas if s for f in s.fields)
        if computed and (stored or any("decimal(" in e for e in computed)):
            return pair
    return None


def _types_may_differ(key: str, old: str | None, new: str | None, pair: OperatorPair) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=old,
        after=new,
        because=(
            f"{key} changed. It decides precision and scale of computed decimals, so the types in "
            "the state may change, too."
        ),
        question=_WHICH_STATE_SCHEMA,
        rollback=Rollback.UNKNOWN,
        remedy=_KEEP_THE_OLD_VALUE,
    )


def _week_pattern(c: Comparison, policy: str | None) -> OperatorPair | None:
    """Return the operator whose keys are written by days or weeks of a week-based year."""
    if (policy or "CORRECTED").upper() == "LEGACY":
        return None
    pairs = (p for p in c.operators if p.before and p.after)
    return next((p for p in pairs if p.after and _by_weeks(p.after.keys or ())), None)


def _by_weeks(keys: Iterable[str]) -> bool:
    patterns = (_QUOTED.sub("", m["pattern"]) for k in keys for m in _WRITTEN.finditer(k))
    return any(_WEEK_LETTERS & set(p) for p in patterns)


def _pattern_refused(old: str | None, new: str | None, pair: OperatorPair) -> RuleResult:
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=pair.location,
        before=old,
        after=new,
        because=(
            "A state key uses a time pattern that only the legacy time parser supports, so Spark "
            "fails on the first row."
        ),
        error_class="INCONSISTENT_BEHAVIOR_CROSS_VERSION",
        rollback=Rollback.REPAIRABLE,
        remedy=_LEAVE_THE_POLICY,
        scenario="offline-upgrade",
    )


def _is_computed(pair: OperatorPair, call: re.Pattern[str]) -> bool:
    """Say whether a key of both versions has such a call; a window over a column is none."""
    keys = pair.before.keys or () if pair.before and pair.after else ()
    return any(call.search(k) and not k.startswith(("window(", "session_window(")) for k in keys)
