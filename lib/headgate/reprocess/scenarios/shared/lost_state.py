"""What is lost if a query starts in the middle of its input with empty state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headgate.model.open_state import OpenState, OpenStore
from headgate.model.stateful_operators import OPERATOR_KINDS
from headgate.model.version import OperatorKind, StatefulOperator, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios.shared.state_losses import Holder, Loss, Mode, losses_of
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso

_HOLDERS = {
    OperatorKind.SESSION_AGGREGATE: Holder.SESSIONS,
    OperatorKind.DEDUPLICATE: Holder.KEYS,
    OperatorKind.DEDUPLICATE_WITHIN_WATERMARK: Holder.KEYS,
    OperatorKind.LIMIT: Holder.LIMIT,
}
_JOINS = {
    "inner": (Holder.INNER_JOIN, ()),
    "leftouter": (Holder.OUTER_JOIN, ("left",)),
    "rightouter": (Holder.OUTER_JOIN, ("right",)),
    "fullouter": (Holder.OUTER_JOIN, ("left", "right")),
    "leftsemi": (Holder.SEMI_JOIN, ("left",)),
}
_TIMED = {Holder.WINDOWS, Holder.SESSIONS, Holder.GROUPS}


@dataclass(frozen=True, slots=True, kw_only=True)
class LostState:
    """What a plan says of the state that it drops: sentences, and rows for its impact."""

    risks: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operator:
    """A stateful operator as checkpoint and stored version describe it.

    `holders` are several if the join type is unknown; `outer` are the sides that give outer rows.
    """

    number: int
    word: str
    holders: tuple[Holder, ...]
    mode: Mode | None
    stores: tuple[OpenStore, ...]
    outer: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum(s.rows for s in self.stores)

    @property
    def unmatched(self) -> int:
        return sum(s.unmatched or 0 for s in self.stores if s.store.startswith(self.outer))

    @property
    def times(self) -> tuple[str, str] | None:
        firsts = [s.first_ms for s in self.stores if s.first_ms is not None]
        lasts = [s.last_ms for s in self.stores if s.last_ms is not None]
        if not firsts or not lasts:
            return None
        return iso(from_milliseconds(min(firsts))), iso(from_milliseconds(max(lasts)))


NO_STATE_YET = Risk("No batch has completed: there is no state to lose")
STATE_DROPPED = Risk(
    "The query starts with empty state: the state of batch {batch} is dropped (operators: "
    "{operators}).",
    batch="N",
)
ROWS_UNKNOWN = Risk(
    "Unknown: Headgate can't read the number and event times of the rows in the state: {reason}"
)


def state_risks(
    inspector: Inspector,
    location: str,
    position: QueryPosition,
    version: Version | None,
    *,
    point: str | None,
) -> LostState:
    """Return what is lost with the state; `point` names where the input begins.

    None: it continues where the last committed batch ended.
    """
    if not position.operators:
        return LostState()
    if position.batch is None:
        return LostState(risks=(NO_STATE_YET(),))
    state = inspector.state.open_state(location, position.batch)
    operators = list(_operators(position, version, state))
    names = ", ".join(position.operators)
    risks = [STATE_DROPPED(batch=position.batch, operators=names)]
    if state.unknown:
        risks.append(ROWS_UNKNOWN(reason=state.unknown))
    risks += [_sentence(op, known=not state.unknown, point=point) for op in operators]
    risks += _watermark_risks(position, operators)
    rows = tuple(_row(op, position.batch, known=not state.unknown) for op in operators)
    return LostState(risks=tuple(risk.rstrip(".") for risk in risks), rows=rows)


def _operators(
    position: QueryPosition, version: Version | None, state: OpenState
) -> Iterator[_Operator]:
    for number, word in enumerate(position.operators):
        stores = tuple(s for s in state.stores if s.operator == number)
        kind = OPERATOR_KINDS.get(word, OperatorKind.UNKNOWN)
        known = _known(version, number, kind)
        holders, outer = _holders(kind, known, stores)
        yield _Operator(
            number=number,
            word=word,
            holders=holders,
            outer=outer,
            mode=_mode(version, known),
            stores=stores,
        )


def _known(version: Version | None, number: int, kind: OperatorKind) -> StatefulOperator | None:
    """Return the stored version's operator; None if it is of another kind: another version's."""
    stateful: Sequence[StatefulOperator] = (version.stateful if version else None) or ()
    found = next((op for op in stateful if op.operator_id == number), None)
    if found is None and number < len(stateful) and stateful[number].operator_id is None:
        found = stateful[number]
    return found if found is not None and found.kind is kind else None


def _holders(
    kind: OperatorKind, known: StatefulOperator | None, stores: Sequence[OpenStore]
) -> tuple[tuple[Holder, ...], tuple[str, ...]]:
    if kind is OperatorKind.STREAM_JOIN:
        named = (known.join_type or "").replace("_", "").replace(" ", "") if known else ""
        holder, sides = _JOINS.get(named.lower(), (None, ("left", "right")))
        every = (Holder.INNER_JOIN, Holder.OUTER_JOIN, Holder.SEMI_JOIN)
        return (every if holder is None else (holder,)), sides
    if kind is OperatorKind.AGGREGATE:
        is_window = any(s.windowed for s in stores) or (known is not None and known.window)
        return ((Holder.WINDOWS if is_window else Holder.GROUPS),), ()
    return (_HOLDERS.get(kind, Holder.OWN),), ()


def _mode(version: Version | None, known: StatefulOperator | None) -> Mode | None:
    sink = version.sink if version else None
    told = (
        known.output_mode if known else None,
        version.output_mode if version else None,
        sink.output_mode if sink else None,
    )
    words = [word.lower() for word in told if word]
    return Mode(words[0]) if words and words[0] in set(Mode) - {Mode.ANY} else None


_OPERATOR = "operator N (NAME, STATE, MODE mode)"
STATE_EMPTY = Risk(
    "{operator}: its state is empty, so nothing is lost.", operator="O" + _OPERATOR[1:]
)
OPERATOR_LOSS = Risk(
    "{word}: {operator}: {loss}",
    word="Loss",
    operator=_OPERATOR,
    loss="what is lost, as in [State that a new checkpoint drops]"
    "(#state-that-a-new-checkpoint-drops)",
)
LOSS_UNCLEAR = Risk(
    "Unknown: {operator}: the {unknown} is unknown. {losses}",
    operator=_OPERATOR,
    unknown="join type or output mode",
    losses="The plan lists what is lost in each possible case",
)


def _sentence(op: _Operator, *, known: bool, point: str | None) -> str:
    """Return what is lost with one operator's state, or that nothing is."""
    found = [(h, m, loss) for h in op.holders for m, loss in losses_of(h, op.mode).items()]
    told = op.mode if len(found) == 1 and op.mode else None
    about = f"Operator {op.number} ({op.word}, {found[0][0]}{f', {told} mode' if told else ''})"
    if len(op.holders) > 1:
        about = f"Operator {op.number} ({op.word})"
    if known and not op.rows:
        return STATE_EMPTY(operator=about)
    if len(found) == 1:
        text = _filled(found[0][2], op, known=known, point=point)
        word, _, rest = text.partition(": ")
        return OPERATOR_LOSS(word=word, operator=_small(about), loss=rest)
    why = "join type" if len(op.holders) > 1 else "output mode"
    cases = [
        f"{holder if len(op.holders) > 1 else f'{mode} mode'}: "
        + _filled(loss, op, known=known, point=point).partition(": ")[2]
        for holder, mode, loss in found
    ]
    return LOSS_UNCLEAR(operator=_small(about), unknown=why, losses=" ".join(map(_big, cases)))


def _filled(loss: Loss, op: _Operator, *, known: bool, point: str | None) -> str:
    what = f"an unknown number of {loss.many}"
    if known:
        what = f"{op.rows} {loss.one if op.rows == 1 else loss.many}"
        # A session's end is its last event and the gap: the state has no other.
        gap = ", including the session gap" if op.holders == (Holder.SESSIONS,) else ""
        what += f" (event time {op.times[0]} to {op.times[1]}{gap})" if op.times else ""
    unmatched = op.unmatched if known else "an unknown number"
    text = loss.continues if point is None else loss.begins
    return text.format(what=what, unmatched=unmatched, point=point)


def _small(text: str) -> str:
    return text[0].lower() + text[1:]


def _big(text: str) -> str:
    return text[0].upper() + text[1:]


def _row(op: _Operator, batch: int, *, known: bool) -> Mapping[str, Any]:
    return {
        "operator": op.number,
        "name": op.word,
        "holds": op.holders[0].value if len(op.holders) == 1 else None,
        "output_mode": op.mode.value if op.mode else None,
        "batch": batch,
        "rows": op.rows if known else None,
        "event_time": list(op.times) if op.times else None,
    }


WATERMARK_RESET = Risk(
    "The watermark ({time}) is reset: late records that Spark would have dropped are "
    "processed.{reopens}",
    reopens=" A late record reopens its window or group: Spark emits the result again, without "
    "its earlier records.",
)


def _watermark_risks(position: QueryPosition, operators: Sequence[_Operator]) -> Iterator[str]:
    if position.watermark_ms <= 0:
        return
    at = iso(datetime.fromtimestamp(position.watermark_ms / 1000, UTC))
    again = any(h in _TIMED for op in operators for h in op.holders if op.mode is not Mode.COMPLETE)
    yield WATERMARK_RESET(time=at, reopens=None if again else "")


RISKS = (
    NO_STATE_YET,
    STATE_DROPPED,
    ROWS_UNKNOWN,
    STATE_EMPTY,
    OPERATOR_LOSS,
    LOSS_UNCLEAR,
    WATERMARK_RESET,
)
