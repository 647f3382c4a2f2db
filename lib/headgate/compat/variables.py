"""The state variables of a transformWithState, and whether Avro rows of one can be read anew.

Source: `TransformWithStateOperatorProperties`, `StateSchemaCompatibilityChecker` (Avro values:
`SchemaValidatorBuilder.canReadStrategy().validateAll()`) and restarts on Spark 4.2.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.compat.match import OperatorPair
from headgate.compat.schema_check import same_word
from headgate.model.schema import Field, Schema
from headgate.model.version import StatefulOperator

_TIMERS = "$"


@dataclass(frozen=True, slots=True)
class Variable:
    """One state variable: `kind` is `ValueState`, `ListState` or `MapState`."""

    name: str
    kind: str
    ttl: bool


def variables(operator: StatefulOperator | None) -> dict[str, Variable] | None:
    """Return the variables by name, timers left out; None where the evidence has none of them."""
    found: Mapping[str, Any] | None = operator.extra.get("variables") if operator else None
    if found is None:
        return None
    return {
        name: Variable(name, str(told.get("type")), bool(told.get("ttl")))
        for name, told in found.items()
        if not name.startswith(_TIMERS)
    }


def variables_known(pair: OperatorPair) -> bool:
    """Say whether both sides tell their variables."""
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


def evolution(stored: Schema, planned: Schema) -> Evolution:
    """Compare by name, as Avro does: every field has null as its default."""
    old = {f.name: f for f in stored.fields}
    new = {f.name: f for f in planned.fields}
    both = [(old[name], new[name]) for name in old if name in new]
    return Evolution(
        unreadable=tuple(path for b, a in both for path in _unreadable(b, a)),
        added=tuple(name for name in new if name not in old),
        dropped=tuple(name for name in old if name not in new),
    )


def _unreadable(stored: Field, planned: Field) -> Iterator[str]:
    old, new = stored.type, planned.type
    if isinstance(old, dict) and isinstance(new, dict):
        yield from (f"{stored.name}{rest}" for rest in _nested(old, new))
    elif not _reads(old, new):
        yield stored.name


def _reads(old: Any, new: Any) -> bool:
    if isinstance(old, dict) or isinstance(new, dict):
        return bool(old == new)
    was, now = (_STORED_AS.get(same_word(t), same_word(t)) for t in (old, new))
    return was == now or (was, now) in _READS


def _nested(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    kind = old.get("type")
    if kind != new.get("type"):
        yield ""
    elif kind == "struct":
        inner = evolution(_schema(old), _schema(new))
        yield from (f".{path}" for path in inner.unreadable)
    else:
        part = {"array": "elementType", "map": "valueType"}.get(str(kind))
        if part is None:
            yield from () if old == new else ("",)
        elif kind == "map" and old.get("keyType") != new.get("keyType"):
            yield ".key"
        else:
            yield from _unreadable(Field("[]", old.get(part)), Field("[]", new.get(part)))


def _schema(kind: dict[str, Any]) -> Schema:
    return Schema(tuple(Field(f["name"], f["type"]) for f in kind.get("fields") or ()))
