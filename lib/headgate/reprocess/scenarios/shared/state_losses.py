"""What is lost with the state of a Spark query: one row per stateful operator and output mode.

Each sentence was checked on Spark 4.2.0 with Kafka, by the operators of
`tests/integration/test_open_state.py`: two versions over the same records, one with the state and
one without. Combinations that Spark refuses to start have no row.
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
    "Loss: {what} will never be emitted with the records so far. If later records belong to them, "
    "the earlier records are missing in their results."
)
_NEVER_FROM = (
    "Loss: {what} will be dropped. Those with records from before {point} are never emitted,"
    " or lack these records. Those that were already emitted appear again for records"
    " from {point} on."
)
_OVERWRITTEN = (
    "Loss: {what} will restart from zero. Their results are already emitted; later records"
    " overwrite them with values that are too small."
)
_OVERWRITTEN_FROM = (
    "Loss: {what} will be recomputed only from records from {point} on. Where there were earlier "
    "records, the new value is too low and overwrites the correct result."
)
_GONE = (
    "Loss: {what} will disappear from the result. One returns with its next record, counted from"
    " zero."
)
_GONE_FROM = (
    "Loss: {what} will leave the result, which then holds only records from {point} on. Those"
    " without such a record disappear, those with earlier ones come out too small."
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
            "Loss: {what} will be dropped. Rows from before {point} never match later rows; matches"
            " among rows from {point} on are emitted again."
        ),
    ),
    (Holder.OUTER_JOIN, Mode.APPEND): Loss(
        one="buffered row",
        many="buffered rows",
        continues=(
            "Loss: {what} will never match later rows. Without a partner so far: {unmatched}. Their"
            " outer rows never appear. A later row whose partner was dropped is emitted with nulls."
        ),
        begins=(
            "Loss: {what} will be dropped. Without a partner so far: {unmatched}. Of rows from"
            " before {point} no match and no outer row appears. A later row whose partner was"
            " dropped is emitted with nulls. Rows from {point} on are emitted again."
        ),
    ),
    (Holder.SEMI_JOIN, Mode.ANY): Loss(
        one="buffered row",
        many="buffered rows",
        continues=(
            "Loss: {what} will never match later rows. Left rows without a partner so far:"
            " {unmatched}. They never appear. A later left row whose partner was dropped never"
            " appears either."
        ),
        begins=(
            "Loss: {what} will be dropped. Left rows without a partner so far: {unmatched}. Those"
            " from before {point} never appear; left rows from {point} on that match are"
            " emitted again."
        ),
    ),
    (Holder.KEYS, Mode.ANY): Loss(
        one="known key",
        many="known keys",
        continues="Loss: {what} will be forgotten. Their duplicates pass again.",
        begins=(
            "Loss: {what} will be forgotten. Their duplicates from {point} on pass again, the first"
            " of each key."
        ),
    ),
    (Holder.LIMIT, Mode.ANY): Loss(
        one="counter",
        many="counters",
        continues="Loss: the limit counts from zero. As many rows pass again.",
        begins="Loss: the limit counts from zero. As many rows from {point} on pass again.",
    ),
    (Holder.OWN, Mode.ANY): Loss(
        one="row of its own state",
        many="rows of its own state",
        continues=(
            "Unknown: {what} will be dropped. How that changes the results depends on the "
            "function's code."
        ),
        begins=(
            "Unknown: {what} will be dropped, and the function processes records from {point} "
            "onwards without this state. How that changes its results depends on its code."
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
