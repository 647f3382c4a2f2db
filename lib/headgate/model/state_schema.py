"""Column schemas in the format of Spark's state store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
    """One column: `type` is Spark's JSON type, a word such as `long`, or a dict for nested types.

    `nullable` is None if the evidence doesn't show it.
    """

    name: str
    type: Any
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order. Spark compares them by order, not by name."""

    fields: tuple[Field, ...] = ()

    def describe(self) -> str:
        """Return `name: type` pairs as text, with `not null` if that is known."""
        return ", ".join(
            f"{f.name}: {type_text(f.type)}{' not null' if f.nullable is False else ''}"
            for f in self.fields
        )


_DEEPEST = 100


def type_text(kind: Any, depth: int = 0) -> str:
    """Return Spark's JSON type as one short word, for example `struct<a:long>` for a nested type.

    An unknown type is `?`, and so is a type that is nested more than a hundred levels deep.
    """
    if kind is None or depth > _DEEPEST:
        return "?"
    if isinstance(kind, str):
        return kind
    if not isinstance(kind, dict):
        return str(kind)
    match kind.get("type"):
        case "struct":
            return f"struct<{','.join(_inner(kind.get('fields'), depth + 1))}>"
        case "array":
            return f"array<{type_text(kind.get('elementType'), depth + 1)}>"
        case "map":
            of = (type_text(kind.get(k), depth + 1) for k in ("keyType", "valueType"))
            return f"map<{','.join(of)}>"
        case "udt":
            return f"udt<{kind.get('class') or kind.get('pyClass')}>"
        case other:
            return str(other)


def _inner(fields: Any, depth: int) -> Iterator[str]:
    for field in fields if isinstance(fields, (list, tuple)) else ():
        if isinstance(field, dict):
            yield f"{field.get('name')}:{type_text(field.get('type'), depth)}"
