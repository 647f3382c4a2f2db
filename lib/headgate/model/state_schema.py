"""Column schemas as Spark's state store writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
    """One column: `type` is Spark's JSON type, a word such as `long` or a dict for nested types.

    `nullable` is None where the evidence does not say.
    """

    name: str
    type: Any
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order; order matters to the engine, names do not."""

    fields: tuple[Field, ...] = ()

    def describe(self) -> str:
        """Return `name: type` pairs for people, with `not null` where it is known."""
        return ", ".join(
            f"{f.name}: {type_text(f.type)}{' not null' if f.nullable is False else ''}"
            for f in self.fields
        )


_DEEPEST = 100


def type_text(kind: Any, depth: int = 0) -> str:
    """Return Spark's JSON type as one short word, `struct<a:long>` and the like for nested ones.

    A type that is not known is `?`, and so is whatever is nested a hundred times.
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
