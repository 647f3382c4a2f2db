"""Join what the plan, a capture and the checkpoint say of the stateful operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.model.state_schema import Schema
from headgate.model.version import OperatorKind, StatefulOperator, StateStore
from headgate.parse.spark.checkpoint.checkpoint import LoggedOperator
from headgate.parse.spark.state.expected_schema import Stores
from headgate.parse.spark.state.operators import kind_of

ENCODING = "spark.sql.streaming.stateStore.encodingFormat"


@dataclass(slots=True)
class State:
    """The operators in the order of their ids, None if unknown; and where evidence disagrees."""

    operators: tuple[StatefulOperator, ...] | None
    warnings: list[str] = field(default_factory=list)


def join_state(
    planned: Mapping[str, StatefulOperator] | None,
    expected: Mapping[int, Stores],
    captured: Sequence[LoggedOperator] | None,
    logged: Sequence[LoggedOperator] | None,
) -> State:
    """Return the operators: what the engine wrote before what it planned, and that before ours."""
    operators = None if planned is None else [_derived(o, expected) for o in planned.values()]
    out = State(None if operators is None else tuple(operators))
    if captured is not None:
        out = _recorded_over(out, captured, "the capture")
    if logged is not None:
        out = _recorded_over(out, logged, "the checkpoint")
    return out


def _derived(operator: StatefulOperator, expected: Mapping[int, Stores]) -> StatefulOperator:
    stores = expected.get(operator.operator_id or 0, {})
    known = {s.store for s in operator.stores}
    if not stores or not known >= stores.keys():
        return operator
    return replace(operator, stores=tuple(_with_schema(s, stores) for s in operator.stores))


def _with_schema(store: StateStore, stores: Stores) -> StateStore:
    if store.store not in stores:
        return store
    key, value = stores[store.store]
    return replace(store, key_schema=key, value_schema=value)


def _recorded_over(state: State, found: Sequence[LoggedOperator], who: str) -> State:
    if state.operators is None:
        return State(tuple(_recorded(o) for o in found))
    by_number = {o.operator_id: o for o in found}
    out, warnings = [], list(state.warnings)
    for operator in state.operators:
        record = by_number.pop(operator.operator_id or 0, None)
        if record is None:
            out.append(operator)
            warnings.append(f"{who} has no state of operator {operator.operator_id}")
        else:
            warnings.extend(_contradictions(operator, record, who))
            out.append(_completed(operator, record))
    if by_number:
        numbers = ", ".join(map(str, sorted(by_number)))
        warnings.append(f"{who} has state of operators that the query plan lacks: {numbers}")
        out.extend(_recorded(o) for o in by_number.values())
    ordered = sorted(out, key=lambda o: o.operator_id or 0)
    return State(tuple(ordered), warnings)


def _recorded(found: LoggedOperator) -> StatefulOperator:
    return StatefulOperator(
        kind=kind_of(found.name, {s.store: s for s in found.stores}),
        name=found.name,
        operator_id=found.operator_id,
        stores=found.stores,
        extra=_properties(found),
    )


def _properties(found: LoggedOperator) -> dict[str, Any]:
    """Return what transformWithState records: variables, time mode, output mode, old schemas."""
    out: dict[str, Any] = dict(found.history)
    if "timeMode" in found.properties:
        out["time_mode"] = found.properties["timeMode"]
    if "outputMode" in found.properties:
        out["operator_output_mode"] = found.properties["outputMode"]
    variables = found.properties.get("stateVariables")
    if isinstance(variables, list):
        out["variables"] = {
            str(v.get("stateName")): {
                "type": v.get("stateVariableType"),
                "ttl": bool(v.get("ttlEnabled")),
            }
            for v in variables
            if isinstance(v, dict)
        }
    return out


def _completed(operator: StatefulOperator, found: LoggedOperator) -> StatefulOperator:
    """Take the stores as they were recorded; what the record lacks the plan may know."""
    planned = {s.store: s for s in operator.stores}
    stores = tuple(_store(s, planned.get(s.store), operator) for s in found.stores)
    return replace(
        operator,
        name=found.name or operator.name,
        stores=stores or operator.stores,
        extra={**operator.extra, **_properties(found)},
    )


def _store(store: StateStore, planned: StateStore | None, operator: StatefulOperator) -> StateStore:
    made = replace(store, node=operator.node)
    if planned is None:
        return made
    return replace(
        made,
        format=made.format or planned.format,
        partitions=made.partitions or planned.partitions,
        provider=made.provider or planned.provider,
        encoding=made.encoding or planned.encoding,
        prefix_columns=(
            planned.prefix_columns if made.prefix_columns is None else made.prefix_columns
        ),
        key_schema=made.key_schema or planned.key_schema,
        value_schema=made.value_schema or planned.value_schema,
        proven=made.key_schema is not None or planned.proven,
    )


def encoded(
    operators: tuple[StatefulOperator, ...] | None, settings: Mapping[str, str], is_captured: bool
) -> tuple[StatefulOperator, ...] | None:
    """Return the operators with the encoding that a session gives to state variables.

    The checkpoint's own word counts where there is one; a session that sets nothing uses Spark's
    default.
    """
    said = settings.get(ENCODING, "unsaferow" if is_captured else "").lower() or None
    if operators is None or said is None:
        return operators
    return tuple(
        replace(o, stores=tuple(replace(s, encoding=s.encoding or said) for s in o.stores))
        if o.kind is OperatorKind.TRANSFORM_WITH_STATE
        else o
        for o in operators
    )


def _contradictions(operator: StatefulOperator, found: LoggedOperator, who: str) -> list[str]:
    """Say where the plan's state differs from what was recorded; names don't count."""
    location = f"operator {operator.operator_id}"
    if found.name and operator.name and found.name != operator.name:
        return [f"{location} is {operator.name} in the query plan, but {found.name} in {who}"]
    planned = {s.store: s for s in operator.stores}
    out = []
    for store in found.stores:
        other = planned.get(store.store)
        for part in ("key_schema", "value_schema") if other else ():
            old, new = getattr(store, part), getattr(other, part)
            if _differ(old, new):
                word = part.partition("_")[0]
                out.append(
                    f"{location}, store {store.store}: the {word} schema in {who} differs from the "
                    "query plan"
                )
    return out


def _differ(recorded: Schema | None, planned: Schema | None) -> bool:
    """Whether two schemas differ in number, order or type of their fields, as far as known."""
    if recorded is None or planned is None:
        return False
    if len(recorded.fields) != len(planned.fields):
        return True
    pairs = zip(recorded.fields, planned.fields, strict=True)
    return any(b.type is not None and bare(a.type) != bare(b.type) for a, b in pairs)


def bare(kind: Any) -> Any:
    """Return a type without names, nullability and metadata: what counts for a state row."""
    if not isinstance(kind, dict):
        return kind
    match kind.get("type"):
        case "struct":
            return ("struct", *(bare(f.get("type")) for f in kind.get("fields", ())))
        case "array":
            return ("array", bare(kind.get("elementType")))
        case "map":
            return ("map", bare(kind.get("keyType")), bare(kind.get("valueType")))
    return str(kind.get("type"))
