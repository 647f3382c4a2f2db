"""Give stateful operators the state schemas that plans ask for, where no checkpoint has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from headgate.model.version import StatefulOperator, StateStore
from headgate.parse.spark.plan import Plan
from headgate.parse.spark.plan_columns import Types
from headgate.parse.spark.planned_state import Stores, planned_state

_ATTRIBUTE = re.compile(r"[^\s,\[\]()]+#\d+")


def with_planned_schemas(
    operators: Sequence[StatefulOperator], plans: Sequence[Plan]
) -> tuple[StatefulOperator, ...]:
    """Fill in schemas that are missing, by operator id and store; a proven schema stays."""
    derived = _derived(plans)
    return tuple(_filled(o, derived.get(o.operator_id or 0, {})) for o in operators)


def _derived(plans: Sequence[Plan]) -> dict[int, Stores]:
    """Prefer `formatted`: of the unformatted plan nobody knows which JSON belongs to it."""
    physical = sorted((p for p in plans if p.is_physical), key=lambda p: p.form != "formatted")
    if not physical:
        return {}
    return planned_state(physical[0], _types_of(physical[0], plans))


def _types_of(physical: Plan, plans: Sequence[Plan]) -> Types:
    """Return the types that another form knows of the very same attributes, else none."""
    leaves = {a for n in physical.nodes if not n.children for a in _attributes(n.fields, n.detail)}
    for plan in plans:
        own = {a for n in plan.nodes if not n.children for a in _attributes(n.fields, n.detail)}
        if plan.types and leaves and leaves <= own:
            return plan.types
    return {}


def _attributes(fields: Mapping[str, str], detail: str) -> list[str]:
    return _ATTRIBUTE.findall(fields.get("Output", detail))


def _filled(operator: StatefulOperator, derived: Stores) -> StatefulOperator:
    if not derived:
        return operator
    known = {s.store: s for s in operator.stores}
    names = [*known, *(n for n in derived if n not in known and not _has_proven(operator))]
    stores = tuple(
        _store(known.get(n) or StateStore(store=n, operator_id=operator.operator_id), derived)
        for n in names
    )
    return replace(operator, stores=stores)


def _has_proven(operator: StatefulOperator) -> bool:
    return any(s.proven for s in operator.stores)


def _store(store: StateStore, derived: Stores) -> StateStore:
    if store.store not in derived or store.key_schema is not None:
        return store
    key, value = derived[store.store]
    return replace(store, key_schema=key, value_schema=value)
