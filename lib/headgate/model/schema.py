"""Column schemas as Spark's state store writes them."""

from __future__ import annotations

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


def type_text(kind: Any) -> str:
    """Return Spark's JSON type as one short word, `struct<a:long>` and the like for nested ones.

    A type that is not known is `?`.
    """
    if kind is None:
        return "?"
    if isinstance(kind, str):
        return kind
    if not isinstance(kind, dict):
        return str(kind)
    match kind.get("type"):
        case "struct":
            inner = ",".join(f"{f['name']}:{type_text(f['type'])}" for f in kind.get("fields", ()))
            return f"struct<{inner}>"
        case "array":
            return f"array<{type_text(kind.get('elementType'))}>"
        case "map":
            return f"map<{type_text(kind.get('keyType'))},{type_text(kind.get('valueType'))}>"
        case "udt":
            return f"udt<{kind.get('class') or kind.get('pyClass')}>"
        case other:
            return str(other)
