"""What is lost with the state of a Spark query: one row per stateful operator and output mode.

Each sentence was checked on Spark 4.2.0 with Kafka, by the operators of
`tests/integration/spark/test_open_state.py`: two versions over the same records, one with the state
and one without. Combinations that Spark refuses to start have no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Holder(StrEnum):
    """What kind of state an operator holds."""

    WINDOWS = "windowed aggregation"
    SESSIONS = "session window"
    GROUPS = "aggregation"
    INNER_JOIN = "inner stream-stream join"
    OUTER_JOIN = "outer stream-stream join"
    SEMI_JOIN = "left semi stream-stream join"
    KEYS = "deduplication"
    LIMIT = "limit"
    OWN = "arbitrary state"


class Mode(StrEnum):
    """The output modes; ANY if the consequence is the same in all that Spark allows."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What becomes of a state that is dropped.

    `one` and `many` name a row of it. `continues` holds if the input continues where it was,
    `begins` if it begins at `{point}`. `{what}` is the number of rows, `{unmatched}` that of a
    join's rows without a partner.
    """

    one: str
    many: str
    continues: str
    begins: str


_NEVER = (
    "Loss: {what} will be dropped and never emitted. If later records reopen one, its result "
    "lacks the earlier records."
)
_NEVER_FROM = (
    "Loss: {what} will be recomputed only from records at or after {point}. Without such records, "
    "nothing is emitted. If there were also earlier records, the results lack these records. "
    "Results that were already emitted are emitted again."
)
_OVERWRITTEN = (
    "Loss: {what} will restart from zero. The next record overwrites an emitted result with a "
    "value that lacks the earlier records."
)
_OVERWRITTEN_FROM = (
    "Loss: {what} will be recomputed only from records at or after {point}. If there were earlier "
    "records, the new value lacks them and overwrites the correct result."
)
_GONE = (
    "Loss: {what} will disappear from the result. Each restarts from zero with the next record "
    "of its key."
)
_GONE_FROM = (
    "Loss: {what} will be recomputed only from records at or after {point}. A key without such "
    "records disappears from the result. If there were earlier records, the new value lacks them."
)

LOSSES: Mapping[tuple[Holder, Mode], Loss] = {
    **{
        (holder, mode): Loss(
            one=f"open {one}" if mode is Mode.APPEND else one,
            many=f"open {one}s" if mode is Mode.APPEND else f"{one}s",
            continues=continues,
            begins=begins,
        )
        for holder, one in (
            (Holder.WINDOWS, "window"),
            (Holder.SESSIONS, "session"),
            (Holder.GROUPS, "group"),
        )
        for mode, continues, begins in (
            (Mode.APPEND, _NEVER, _NEVER_FROM),
            (Mode.UPDATE, _OVERWRITTEN, _OVERWRITTEN_FROM),
            (Mode.COMPLETE, _GONE, _GONE_FROM),
        )
        # Spark refuses session windows in update mode.
        if (holder, mode) != (Holder.SESSIONS, Mode.UPDATE)
    },
    (Holder.INNER_JOIN, Mode.ANY): Loss(
        one="buffered row",
        many="buffered rows",
        continues="Loss: {what} will never match later rows.",
        begins=(
            "Loss: {what} will be dropped. Rows before {point} never match later rows. Matches "
            "among rows at or after {point} are emitted again."
        ),
    ),
    (Holder.OUTER_JOIN, Mode.APPEND): Loss(
        one="buffered row",
        many="buffered rows",
        continues=(
            "Loss: {what} will never match later rows. Rows without a match so far: {unmatched}. "
            "These rows are never emitted with nulls. A later row that would have matched a "
            "dropped row is emitted with nulls."
        ),
        begins=(
            "Loss: {what} will be dropped. Rows without a match so far: {unmatched}. Dropped rows "
            "before {point} have no more results, neither matches nor rows with nulls. A later row "
            "that would have matched such a row is emitted with nulls. Results of rows at or after "
            "{point} are emitted again."
        ),
    ),
    (Holder.SEMI_JOIN, Mode.ANY): Loss(
        one="buffered row",
        many="buffered rows",
        continues=(
            "Loss: {what} will never match later rows. Left rows without a match so far: "
            "{unmatched}. These rows are never emitted. A later left row that would have matched a "
            "dropped row is never emitted either."
        ),
        begins=(
            "Loss: {what} will be dropped. Left rows without a match so far: {unmatched}. Such "
            "rows before {point} are never emitted. Left rows at or after {point} that match are "
            "emitted again."
        ),
    ),
    (Holder.KEYS, Mode.ANY): Loss(
        one="known key",
        many="known keys",
        continues="Loss: {what} will be dropped. The next duplicate of each key is emitted.",
        begins=(
            "Loss: {what} will be dropped. The first record of each key at or after {point} is "
            "emitted, even if it is a duplicate."
        ),
    ),
    (Holder.LIMIT, Mode.ANY): Loss(
        one="counter",
        many="counters",
        continues="Loss: the limit() starts at zero again, so the query may emit more rows in "
        "total than the limit.",
        begins="Loss: the limit() starts at zero again. From {point}, the query again emits rows "
        "up to the limit.",
    ),
    (Holder.OWN, Mode.ANY): Loss(
        one="row of user-defined state",
        many="rows of user-defined state",
        continues=(
            "Unknown: {what} will be dropped. The effect on the results depends on the "
            "function's code."
        ),
        begins=(
            "Unknown: {what} will be dropped. The function processes records at or after {point} "
            "without this state. The effect on the results depends on the function's code."
        ),
    ),
}


def losses_of(holder: Holder, mode: Mode | None) -> dict[Mode, Loss]:
    """Return what applies: one row, or a row for each mode if the mode decides and is unknown."""
    if (found := LOSSES.get((holder, Mode.ANY))) is not None:
        return {Mode.ANY: found}
    rows = {m: loss for (h, m), loss in LOSSES.items() if h is holder}
    if len(rows) == 1:
        return rows
    return {mode: rows[mode]} if mode in rows else rows
