"""The state variables of a transformWithState, and whether its new code can decode Avro rows.

Source: `TransformWithStateOperatorProperties`, `StateSchemaCompatibilityChecker` (Avro values:
`SchemaValidatorBuilder.canReadStrategy().validateAll()`) and restarts on Spark 4.2.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.model.state_schema import Field, Schema
from headgate.model.version import StatefulOperator
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.spark.facts.state_schema_check import same_word

_TIMERS = "$"


@dataclass(frozen=True, slots=True)
class Variable:
    """One state variable: `kind` is `ValueState`, `ListState` or `MapState`."""

    name: str
    kind: str


def variables(operator: StatefulOperator | None) -> dict[str, Variable] | None:
    """Return the variables by name, timers left out; None where the evidence has none of them."""
    found: Mapping[str, Any] | None = operator.extra.get("variables") if operator else None
    if found is None:
        return None
    return {
        name: Variable(name, str(entry.get("type")))
        for name, entry in found.items()
        if not name.startswith(_TIMERS)
    }


def variables_known(pair: OperatorPair) -> bool:
    """Say whether the evidence of both sides has their variables."""
    return variables(pair.before) is not None and variables(pair.after) is not None


def is_internal(store: str) -> bool:
    """Say whether a store is one of Spark's own: timers, times to live, counters of lists."""
    return store.startswith(_TIMERS)


# What Avro's schema resolution reads a number as; Spark's own types by what Avro stores them as.
_STORED_AS = {
    "byte": "integer",
    "short": "integer",
    "date": "integer",
    "timestamp": "long",
    "timestamp_ntz": "long",
}
_READS = {
    ("integer", "long"),
    ("integer", "float"),
    ("integer", "double"),
    ("long", "float"),
    ("long", "double"),
    ("float", "double"),
    ("string", "binary"),
    ("binary", "string"),
}


@dataclass(frozen=True, slots=True)
class Evolution:
    """What happens to a stored Avro value under another schema: fields by their path."""

    unreadable: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def __add__(self, other: Evolution) -> Evolution:
        """Return both as one."""
        return Evolution(
            self.unreadable + other.unreadable,
            self.added + other.added,
            self.dropped + other.dropped,
        )


def evolution(stored: Schema, planned: Schema) -> Evolution:
    """Compare by name, as Avro does: every field has null as its default."""
    return _fields(stored.fields, planned.fields, "")


def _fields(stored: tuple[Field, ...], planned: tuple[Field, ...], at: str) -> Evolution:
    old, new = ({f.name: f.type for f in fields} for fields in (stored, planned))
    out = Evolution(
        added=tuple(at + name for name in new if name not in old),
        dropped=tuple(at + name for name in old if name not in new),
    )
    for name in old.keys() & new.keys():
        out += _typed(old[name], new[name], at + name)
    return out


def _typed(stored: Any, planned: Any, at: str) -> Evolution:
    if isinstance(stored, dict) and isinstance(planned, dict):
        return _nested(stored, planned, at)
    return Evolution() if _reads(stored, planned) else Evolution(unreadable=(at,))


def _reads(old: Any, new: Any) -> bool:
    if isinstance(old, dict) or isinstance(new, dict):
        return bool(old == new)
    was, now = (_STORED_AS.get(same_word(t), same_word(t)) for t in (old, new))
    return was == now or (was, now) in _READS


def _nested(old: dict[str, Any], new: dict[str, Any], at: str) -> Evolution:
    kind = old.get("type")
    if kind != new.get("type"):
        return Evolution(unreadable=(at,))
    if kind == "struct":
        return _fields(_inner(old), _inner(new), f"{at}.")
    part = {"array": "elementType", "map": "valueType"}.get(str(kind))
    if part is None:
        return Evolution() if old == new else Evolution(unreadable=(at,))
    if kind == "map" and old.get("keyType") != new.get("keyType"):
        return Evolution(unreadable=(f"{at}.key",))
    return _typed(old.get(part), new.get(part), f"{at}[]")


def _inner(kind: dict[str, Any]) -> tuple[Field, ...]:
    return tuple(Field(f["name"], f["type"]) for f in kind.get("fields") or ())


def moved(stored: Schema, planned: Schema) -> tuple[str, ...]:
    """Return the fields, nested ones by their path, that have different positions in both."""
    old, new = ([p for f in s.fields for p in _paths(f.name, f.type)] for s in (stored, planned))
    return tuple(p for p in old if p in new and old.index(p) != new.index(p))


def _paths(name: str, kind: Any) -> list[str]:
    """Return a field's path, or those of what is in it."""
    if not isinstance(kind, dict):
        return [name]
    match kind.get("type"):
        case "struct":
            return [p for f in kind.get("fields") or () for p in _paths(_at(name, f), f["type"])]
        case "array":
            return _paths(f"{name}[]", kind.get("elementType"))
        case "map":
            return _paths(f"{name}[]", kind.get("valueType"))
        case _:
            return [name]


def _at(name: str, field: dict[str, Any]) -> str:
    return f"{name}.{field['name']}"


@dataclass(frozen=True, slots=True)
class Past:
    """A schema that a variable had before the newest one; Spark still reads it."""

    key: Schema
    value: Schema


def past(operator: StatefulOperator | None) -> dict[str, tuple[Past, ...]]:
    """Return the older schemas of each variable, oldest first; also of those that went."""
    found: Mapping[str, Any] = (operator.extra.get("past") if operator else None) or {}
    return {name: tuple(_past(entry) for entry in schemas) for name, schemas in found.items()}


def _past(entry: Mapping[str, Any]) -> Past:
    key, value = (
        Schema(tuple(Field(f["name"], f["type"], f["nullable"]) for f in entry[part]))
        for part in ("key", "value")
    )
    return Past(key, value)
