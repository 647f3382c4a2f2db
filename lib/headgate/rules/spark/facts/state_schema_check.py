"""Spark's own check of a state schema, with a third answer where evidence is silent.

Source: `StateSchemaCompatibilityChecker` and `DataType.equalsIgnoreNameAndCompatibleNullability`
of Spark 3.5 to 4.2; confirmed by restarts on 3.5.8, 4.0.2 and 4.2.0.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from headgate.model.state_schema import Field, Schema

_WORDS = {"bigint": "long", "int": "integer", "tinyint": "byte", "smallint": "short"}


class Fit(Enum):
    """Whether a planned schema fits a stored one; `why` it doesn't."""

    FITS = "fits"
    UNKNOWN = "unknown"
    NUMBER = "number of fields"
    TYPE = "type of a field"
    NULLABLE = "nullable, but the stored field is not"

    @property
    def refused(self) -> bool:
        """Say whether the engine would refuse."""
        return self in (Fit.NUMBER, Fit.TYPE, Fit.NULLABLE)


def fit(stored: Schema | None, planned: Schema | None) -> Fit:
    """Compare by position: number, types, and no looser nullability; names do not count."""
    if stored is None or planned is None:
        return Fit.UNKNOWN
    if len(stored.fields) != len(planned.fields):
        return Fit.NUMBER
    return _worst([_field(s, p) for s, p in zip(stored.fields, planned.fields, strict=True)])


def _field(stored: Field, planned: Field) -> Fit:
    return _worst([_type(stored.type, planned.type), _null(stored.nullable, planned.nullable)])


def _worst(fits: list[Fit]) -> Fit:
    for candidate in (Fit.NUMBER, Fit.TYPE, Fit.NULLABLE, Fit.UNKNOWN):
        if candidate in fits:
            return candidate
    return Fit.FITS


def _null(stored: bool | None, planned: bool | None) -> Fit:
    """Stored nullable takes both; stored not null takes only not null."""
    if stored or planned is False:
        return Fit.FITS
    if stored is None or planned is None:
        return Fit.UNKNOWN
    return Fit.NULLABLE


def _type(stored: Any, planned: Any) -> Fit:
    if stored is None or planned is None:
        return Fit.UNKNOWN
    if isinstance(stored, dict) and isinstance(planned, dict):
        return _nested(stored, planned)
    return Fit.FITS if same_word(stored) == same_word(planned) else Fit.TYPE


_INTEGERS = ("byte", "short", "integer", "long")


def only_wider_integers(stored: Schema, planned: Schema) -> bool:
    """Say whether all types that differ are integers that became wider, at the top level.

    UnsafeRow keeps a narrow one in the lowest bytes of a word whose other bytes are zero: read as
    a wider one it is the same number unless it is negative.
    """
    pairs = list(zip(stored.fields, planned.fields, strict=True))
    types = [(same_word(s.type), same_word(p.type)) for s, p in pairs]
    return all(
        was == now
        or (was in _INTEGERS and now in _INTEGERS and _INTEGERS.index(was) < _INTEGERS.index(now))
        for was, now in types
    )


def now_not_null(
    stored: Schema | None, planned: Schema | None, filtered: frozenset[str]
) -> list[Field]:
    """Return the stored fields that may hold null, and are not null or `filtered` in the plan."""
    if stored is None or planned is None:
        return []
    pairs = zip(stored.fields, planned.fields, strict=False)
    return [
        s for s, p in pairs if s.nullable and (p.nullable is False or {s.name, p.name} & filtered)
    ]


def same_word(kind: Any) -> Any:
    """Return a type's word as Spark's JSON has it; nested types and others as they are."""
    return _WORDS.get(kind, kind) if isinstance(kind, str) else kind


def _nested(stored: dict[str, Any], planned: dict[str, Any]) -> Fit:
    if stored.get("type") != planned.get("type"):
        return Fit.TYPE
    match stored.get("type"):
        case "struct":
            return fit(_schema(stored), _schema(planned))
        case "array":
            return _inner(stored, planned, "elementType", "containsNull")
        case "map":
            keys = _type(stored.get("keyType"), planned.get("keyType"))
            return _worst([keys, _inner(stored, planned, "valueType", "valueContainsNull")])
        case _:
            return Fit.FITS if stored == planned else Fit.TYPE


def _inner(stored: dict[str, Any], planned: dict[str, Any], kind: str, null: str) -> Fit:
    types = _type(stored.get(kind), planned.get(kind))
    return _worst([types, _null(stored.get(null), planned.get(null))])


def _schema(kind: dict[str, Any]) -> Schema:
    fields = kind.get("fields", ())
    return Schema(tuple(Field(f["name"], f["type"], f.get("nullable")) for f in fields))
