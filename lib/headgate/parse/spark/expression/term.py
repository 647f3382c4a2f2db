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

    Spark prunes the schema that JSON is parsed with to the fields that are used, differently in
    every form and operator: one field means the same whatever else is parsed. Its type is checked
    apart. Avro's schema may be longer than all else, and has an entry of its own in
    `Version.parsed`.
    """
    if base.kind == "call" and base.name in _BY_SCHEMA and base.args:
        return f"{base.name}({base.args[0].text})"
    if base.kind != "call" or base.name != "from_json":
        return base.text
    parsed = (a.text for a in base.args if not a.text.startswith(("StructField(", "StructType(")))
    return f"from_json({next(parsed, '')})"


_FORMS = {
    "binary": "({0} {name} {1})",
    "not": "NOT {0}",
    "cast": "cast({0} as {name})",
    "field": "{0}.{name}",
    "item": "{0}[{1}]",
    "filter": "{0} FILTER (WHERE {1})",
    "distinct": "distinct {0}",
}
"""Text template for each kind of term."""


def _text(kind: str, name: str, args: list[str]) -> str:
    listed = ", ".join(args)
    if kind in ("call", "list", "case"):
        left, right = {"call": (f"{name}(", ")"), "list": ("[", "]"), "case": ("CASE(", ")")}[kind]
        return f"{left}{listed}{right}"
    form = _FORMS.get(kind)
    return form.format(*args, name=name) if form else name
