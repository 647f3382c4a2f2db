"""State that never gets smaller, and state that can't be moved."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.model.progress import OperatorProgress
from headgate.model.version import Engine, OperatorKind, StatefulOperator
from headgate.rules.core.source_names import OFFSET_LOG
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.spans import size
from headgate.rules.readiness.facts.state_retention import Bound, bound_of
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.spark.facts.event_time import output_mode
from headgate.rules.spark.facts.pinned_settings import PARTITIONS, PROVIDER, stored_partitions
from headgate.text.numbers import plural

MANY_ROWS = 1_000_000
LARGE_BYTES = 1_000_000_000
"""State size that is too large for HDFSBackedStateStoreProvider, which uses the executors' heap."""
_GUIDE = "Spark documentation: Structured Streaming programming guide"
_NO_FUNCTION = "Does the function remove the state of keys that it no longer needs?"
_BY_KIND = {
    OperatorKind.DEDUPLICATE: (
        (
            "Use dropDuplicatesWithinWatermark, or add the watermarked column to the keys. Both "
            "need a new checkpoint. If you add only a watermark, Spark removes no state."
        ),
        False,
    ),
    OperatorKind.STREAM_JOIN: (
        (
            "Set a watermark on both sides. Also set a join condition with a lower and an upper "
            "bound of event time. `headgate diff` shows whether the query can keep its checkpoint."
        ),
        None,
    ),
}
_WINDOWED = (
    (
        "Set a watermark on the window's time column. Set its delay to at least the maximum "
        "lateness of records. Spark keeps the stored state, and removes the windows before the "
        "watermark in the first batches."
    ),
    True,
)
_COMPLETE = ("Use update mode with a watermark: complete mode keeps all rows.", True)


@rule(
    "RDY010",
    f"{_GUIDE}, Handling Late Data and Watermarking; measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.HIGH,),
    remedies=tuple(text for text, _ in (*_BY_KIND.values(), _WINDOWED, _COMPLETE)),
)
def state_grows_forever(s: Subject) -> Iterator[Problem]:
    """This state never shrinks: it grows every day, until a batch no longer fits into memory.

    Each restart has more state to load, and a replay takes longer.
    """
    for operator in s.stateful:
        if bound_of(operator, s.version) is Bound.GROWS:
            complete = output_mode(s.version) == "complete"
            remedy, keeps = _BY_KIND.get(operator.kind, _WINDOWED)
            if complete and operator.kind not in _BY_KIND:
                remedy, keeps = _COMPLETE
            yield Problem(
                severity=Severity.HIGH,
                location=operator.node,
                what=f"{_name(operator)} {_reason(operator, s, complete)}.",
                remedy=remedy,
                keeps_state=keeps,
            )


def _reason(operator: StatefulOperator, s: Subject, complete: bool) -> str:
    if operator.kind is OperatorKind.STREAM_JOIN:
        if s.version.watermarks:
            return "has no condition with a lower and an upper bound of event time"
        return "has no watermark"
    if operator.kind is OperatorKind.DEDUPLICATE:
        if s.version.watermarks:
            return "keeps every key forever, because the keys don't include an event-time column"
        return "keeps every key forever, because it has no watermark"
    return (
        "uses complete mode, which keeps all rows"
        if complete
        else "has windows, but no watermark that closes them"
    )


_IF_KEYS_KEEP = (
    "If new keys keep coming, group by a window of event time with a watermark. Or keep the "
    "state in transformWithState with a time-to-live. Both need a new checkpoint."
)
_IS_THE_NUMBER = "Is the number of keys limited?"


@rule(
    "RDY011",
    f"{_GUIDE}, Handling Late Data and Watermarking",
    Engine.SPARK,
    severities=(Severity.MEDIUM, Severity.LOW),
    remedies=(_IF_KEYS_KEEP,),
    questions=(_IS_THE_NUMBER,),
)
def state_grows_with_keys(s: Subject) -> Iterator[Problem]:
    """The state keeps a row for every key that was ever seen.

    A few keys, such as countries, are no problem. If new keys keep coming, such as session ids, the
    state grows forever.
    """
    for operator in s.stateful:
        if bound_of(operator, s.version) is Bound.KEYS:
            rows = _rows(operator, s)
            many = rows is not None and rows >= MANY_ROWS
            held = f" Its state had {rows:,} rows in the newest batch." if rows else ""
            yield Problem(
                severity=Severity.MEDIUM if many else Severity.LOW,
                location=operator.node,
                what=f"{_name(operator)} groups by {_keys(operator)}, without event time.{held}",
                remedy=_IF_KEYS_KEEP,
                keeps_state=False,
                question=_IS_THE_NUMBER,
            )


_SET_A_TIMEOUT = (
    "Set a timeout (GroupStateTimeout), and remove a key's state when its timeout expires."
)
_GIVE_THE_VARIABLES = (
    "Set a time-to-live on the state variables, or register timers in the StatefulProcessor. For "
    "both, also set the operator's timeMode."
)


@rule(
    "RDY012",
    f"{_GUIDE}, Arbitrary Stateful Operations",
    Engine.SPARK,
    severities=(Severity.LOW,),
    remedies=(_SET_A_TIMEOUT, _GIVE_THE_VARIABLES),
    questions=(_NO_FUNCTION,),
)
def state_without_timeout(s: Subject) -> Iterator[Problem]:
    """Without a timeout, timer or time-to-live, only the function itself removes state. Spark calls
    the function only for keys with new records.

    The state of keys without new records remains forever.
    """
    for operator in s.stateful:
        if bound_of(operator, s.version) is Bound.FUNCTION:
            grouped = operator.kind is OperatorKind.MAP_GROUPS
            lacks = "no timeout" if grouped else "neither timers nor a time-to-live"
            yield Problem(
                severity=Severity.LOW,
                location=operator.node,
                what=f"{_name(operator)} has {lacks}.",
                remedy=_SET_A_TIMEOUT if grouped else _GIVE_THE_VARIABLES,
                keeps_state=False,
                question=_NO_FUNCTION,
            )


_WHEN_THE_QUERY = (
    "When the query next gets a new checkpoint, set "
    "spark.sql.streaming.stateStore.providerClass to "
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider. The current "
    "checkpoint pins its provider: the setting has no effect on it."
)


@rule(
    "RDY013",
    f"{_GUIDE}, RocksDB state store implementation",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_WHEN_THE_QUERY,),
)
def large_state_in_memory(s: Subject) -> Iterator[Problem]:
    """HDFSBackedStateStoreProvider keeps every row in the executors' heap, in more than one
    version.

    Large state causes long garbage collections. After a failover, each executor loads all of its
    state before the first batch.
    """
    provider = s.in_force(PROVIDER) or ""
    if not provider.endswith("HDFSBackedStateStoreProvider") or s.newest is None:
        return
    for number, operator in enumerate(s.newest.operators):
        held, rows = operator.memory_bytes or 0, operator.rows_total or 0
        if held >= LARGE_BYTES or rows >= MANY_ROWS:
            yield Problem(
                severity=Severity.MEDIUM,
                location=next((o.node for o in s.stateful if o.operator_id == number), None),
                what=f"The operator {operator.name} keeps {_shown(rows, held)} in the executors' "
                "heap (HDFSBackedStateStoreProvider).",
                remedy=_WHEN_THE_QUERY,
                keeps_state=False,
            )


_SET_IN_THE_QUERYS = (
    f"Set {PARTITIONS} to {{number}} in the query's own code. Then the defaults of another "
    "machine or cluster can't change it."
)


@rule(
    "RDY014",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.HIGH,),
    remedies=(_SET_IN_THE_QUERYS,),
)
def state_partitions_not_recorded(s: Subject) -> Iterator[Problem]:
    """With offset log format 2, a query's first run doesn't record its number of state partitions.

    A restart with fewer shuffle partitions silently loses keys. A restart with more partitions
    fails. Afterwards, the old version fails, too.
    """
    stored = stored_partitions(s.version)
    second = s.version.offset_log_version == 2 or s.setting(OFFSET_LOG) == "2"
    has_progress = s.version.progress is not None
    if second and has_progress and s.stateful and PARTITIONS not in s.version.pinned:
        number = str(stored) if stored else "the current number"
        yield Problem(
            severity=Severity.HIGH,
            location=s.stateful[0].node,
            what="The checkpoint doesn't record the number of state partitions"
            + (f" ({stored})." if stored else "."),
            remedy=_SET_IN_THE_QUERYS.format(number=number),
            keeps_state=True,
        )


_BEFORE_YOU_START = (
    f"When the query next gets a new checkpoint, first set {PARTITIONS}. A good value is two or "
    "three times the query's maximum number of cores. The current checkpoint pins the number of "
    f"partitions. {{how}}."
)


@rule(
    "RDY015",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.LOW,),
    remedies=(_BEFORE_YOU_START,),
)
def default_state_partitions(s: Subject) -> Iterator[Problem]:
    """The state has Spark's default number of partitions, and the checkpoint pins it.

    Too many partitions make every batch slow and fill the checkpoint with small files. With too
    few partitions, the query can't use more cores when the data grows.
    """
    stored = s.version.pinned.get(PARTITIONS)
    if s.stateful and stored == "200" and s.setting(PARTITIONS) is None and s.settings_known:
        hdfs = (s.in_force(PROVIDER) or "").endswith("HDFSBackedStateStoreProvider")
        how = (
            "Headgate can't repartition this state, because HDFSBackedStateStoreProvider stores it"
            if hdfs
            else "`headgate plan repartition` can repartition RocksDB state (Spark 4.2 and newer)"
        )
        yield Problem(
            severity=Severity.LOW,
            location=s.stateful[0].node,
            what="The state has 200 partitions, Spark's default.",
            remedy=_BEFORE_YOU_START.format(how=how),
            keeps_state=False,
        )


_RUN_THE_QUERY = (
    "Run the query with a processingTime trigger, which can be set at any restart. Or use an "
    "event-time timeout, which needs a new checkpoint."
)


@rule(
    "RDY016",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.HIGH,),
    remedies=(_RUN_THE_QUERY,),
)
def scheduled_run_never_ends(s: Subject) -> Iterator[Problem]:
    """A query with trigger availableNow ends once no work is left, but a processing-time timeout
    always leaves work.

    The run processes empty batches forever, and the schedule waits for the end of the run.
    """
    if not (s.version.trigger or {}).get("availableNow"):
        return
    for operator in s.stateful:
        if str(operator.extra.get("timeout")) == "ProcessingTimeTimeout":
            yield Problem(
                severity=Severity.HIGH,
                location=operator.node,
                what=(
                    f"{_name(operator)} has a processing-time timeout, and the trigger is "
                    "availableNow."
                ),
                remedy=_RUN_THE_QUERY,
                keeps_state=True,
            )


def _name(operator: StatefulOperator) -> str:
    words = {
        OperatorKind.AGGREGATE: "The aggregation",
        OperatorKind.SESSION_AGGREGATE: "The session aggregation",
        OperatorKind.DEDUPLICATE: "The deduplication",
        OperatorKind.STREAM_JOIN: "The stream-stream join",
        OperatorKind.MAP_GROUPS: "The function that uses GroupState",
        OperatorKind.TRANSFORM_WITH_STATE: "transformWithState",
    }
    return words.get(operator.kind, f"The operator {operator.name}")


def _shown(rows: int, held: int) -> str:
    """Return rows and bytes, as far as the report has them."""
    if not rows:
        return size(held)
    return f"{plural(rows, 'row', f'{rows:,}')}{f' ({size(held)})' if held else ''}"


def _keys(operator: StatefulOperator) -> str:
    return ", ".join(re.sub(r"\bs\d+\.", "", key) for key in operator.keys or ())


def _rows(operator: StatefulOperator, s: Subject) -> int | None:
    found = _reported(operator, s)
    return found.rows_total if found else None


def _reported(operator: StatefulOperator, s: Subject) -> OperatorProgress | None:
    """Return the operator's part of the newest report, which lists them by id."""
    operators = s.newest.operators if s.newest else ()
    number = operator.operator_id
    if number is None or len(operators) != len(s.stateful):
        return None
    return operators[number] if number < len(operators) else None
