"""An expression as a value: its parts, and its text in one normal form."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

LONGEST = 4000
_NAMED = frozenset(("attribute", "literal", "raw"))
_BY_SCHEMA = frozenset(("from_avro", "from_protobuf"))


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One expression. `text` is its normal form: no attribute ids, no aliases.

    `kind` is `attribute`, `literal`, `call`, `binary`, `not`, `cast`, `case`, `field`, `list` or
    `raw`. `name` is the function, operator, cast type or field. `id` is an attribute's number.
    A text longer than `LONGEST` is a digest, so that chains that double stay small.
    """

    kind: str
    name: str
    args: tuple[Term, ...]
    text: str
    id: int | None = None


def term(kind: str, name: str, args: tuple[Term, ...] = (), *, id: int | None = None) -> Term:
    """Build a term and its normal text from its parts."""
    if kind in _NAMED:
        text = name
    else:
        text = _text(kind, name, [_within(a) if kind == "field" else a.text for a in args])
    if len(text) > LONGEST:
        text = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return Term(kind, name, args, text, id)


def _within(base: Term) -> str:
    """Return how a field's text says what it is a field of.

    Spark prunes the schema that JSON is parsed with to what is read of it, differently in every
    form and place: one field means the same whatever else is parsed. Its type is checked apart.
    Avro's schema may be longer than all else, and stands by itself in `Version.parsed`.
    """
    if base.kind == "call" and base.name in _BY_SCHEMA and base.args:
        return f"{base.name}({base.args[0].text})"
    if base.kind != "call" or base.name != "from_json":
        return base.text
    parsed = (a.text for a in base.args if not a.text.startswith(("StructField(", "StructType(")))
    return f"from_json({next(parsed, '')})"


def _text(kind: str, name: str, args: list[str]) -> str:
    match kind:
        case "call":
            return f"{name}({', '.join(args)})"
        case "binary":
            return f"({args[0]} {name} {args[1]})"
        case "not":
            return f"NOT {args[0]}"
        case "cast":
            return f"cast({args[0]} as {name})"
        case "field":
            return f"{args[0]}.{name}"
        case "item":
            return f"{args[0]}[{args[1]}]"
        case "list":
            return f"[{', '.join(args)}]"
        case "case":
            return f"CASE({', '.join(args)})"
        case "filter":
            return f"{args[0]} FILTER (WHERE {args[1]})"
        case "distinct":
            return f"distinct {args[0]}"
        case _:
            return name
