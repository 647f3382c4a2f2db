"""The columns that a sink gets, as every form of a plan has them: names, types, what is packed.

Names and their order are those of the plan's last operator. Types are Spark's own in a capture;
else those in the line above an analysed plan, else derived from the expressions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headgate.model.output_columns import Payload
from headgate.model.state_schema import Field, Schema
from headgate.parse.spark.explain.odd_names import decode, is_odd, plain
from headgate.parse.spark.explain.printed_plan import Plan, TypedColumn
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.type_names import angle_split, from_scala, from_sql
from headgate.parse.spark.expression.types import UNKNOWN, typed
from headgate.parse.spark.operators.canonical import Shape
from headgate.parse.spark.operators.relation import Column
from headgate.parse.spark.query.packed_columns import Call, arguments, writer_in
from headgate.parse.spark.state.expected_schema import column_types

BEST = ("json", "analyzed", "formatted", "physical", "optimized", "executed")
"""Plan forms by how well they show the output, best first. A parsed plan shows no columns."""
_BARE = re.compile(r"^[^()\s]*#(\d{1,18})L?(?:-T\d+ms)?$")
_STRUCT = re.compile(r"^(?:named_)?struct\(.*\)$", re.S)
_DEEPEST = 40
Pairs = Sequence[tuple[Plan, Shape]]


@dataclass(frozen=True, slots=True)
class Output:
    """What a sink gets; `schema` is None if no plan shows its columns."""

    schema: Schema | None = None
    made_by: Mapping[str, str] = field(default_factory=dict)
    payloads: tuple[Payload, ...] = ()


def sink_output(
    plans: Sequence[Plan], shapes: Sequence[Shape], captured: Schema | None = None
) -> Output:
    """Return the columns of the best form; `captured` is Spark's own word on their types."""
    pairs: Pairs = [
        (p, s) for p, s in zip(plans, shapes, strict=True) if p.is_whole and p.form in BEST
    ]
    best = min(pairs, key=lambda pair: BEST.index(pair[0].form), default=None)
    if best is None or not best[1].resolved.query.relations:
        return Output(captured)
    reading = Reading(best[1], pairs)
    columns = reading.columns()
    if columns is None:
        return Output(captured)
    by_name = _headings([p for p, _ in pairs], [decode(c.name) for c in columns])
    by_name.update({f.name: f for f in (captured.fields if captured else ())})
    try:
        fields = tuple(_field(c, by_name, reading) for c in columns)
        payloads = tuple(p for c in columns if (p := _payload(c, reading)) is not None)
    except RecursionError:
        return Output(captured)
    own = plain(Schema(fields))
    return Output(_agreed(own, captured), reading.made_by(columns), payloads)


def _agreed(own: Schema, captured: Schema | None) -> Schema:
    """Return what the session said, where it said it of these columns or of others."""
    return own if captured is None or own.fields == captured.fields else captured


class Reading:
    """One form of a plan; it answers what its attributes mean."""

    def __init__(self, shape: Shape, pairs: Pairs) -> None:
        self.query = shape.resolved.query
        self.terms = shape.resolved.terms
        self.types = column_types(shape, pairs)
        self.made = {
            c.id: c.text
            for r in self.query.relations
            for c in r.outputs
            if c.id is not None and c.text is not None and not _is_itself(c)
        }
        self.is_joined = any(r.kind.endswith("join") for r in self.query.relations)

    def columns(self) -> tuple[Column, ...] | None:
        """Return the last operator's columns; None where they are not known one by one."""
        found = self.query.relations[-1].outputs
        known = all(c.id is not None and "*" not in c.name for c in found)
        return found if found and known else None

    def type_of(self, text: str, depth: int = 0) -> TypedColumn:
        """Return what is known of an expression's type, through the operators beneath."""
        if depth > _DEEPEST:
            return UNKNOWN
        found = typed(parse(text), lambda n: self._attribute(n, depth + 1))
        return TypedColumn(found.type, None if self.is_joined else found.nullable)

    def _attribute(self, number: int, depth: int) -> TypedColumn:
        known = self.types.get(number)
        if known is not None and known.type is not None:
            return known
        text = self.made.get(number)
        return UNKNOWN if text is None else self.type_of(text, depth)

    def text_of(self, text: str) -> str:
        """Return what makes a column: through operators that only pass it on."""
        for _ in range(_DEEPEST):
            match = _BARE.match(text)
            below = self.made.get(int(match[1])) if match else None
            if below is None:
                return text
            text = below
        return text

    def meaning(self, text: str) -> str:
        """Return an expression in terms of source columns."""
        return parse(text, lambda n, _: self.terms.get(n)).text

    def made_by(self, columns: Sequence[Column]) -> dict[str, str]:
        """Return what each column is made of, as far as its terms are known."""
        out = {}
        for c in columns:
            call = writer_in(self.text_of(c.text or f"{c.name}#{c.id}"))
            if call is not None and call.arguments:
                out[c.name] = f"{call.name}({self.meaning(call.arguments[0])})"
            elif c.id is not None and c.id in self.terms:
                out[c.name] = self.terms[c.id].text
        return out


def _is_itself(c: Column) -> bool:
    """Whether a column is only passed on, under its own number."""
    match = _BARE.match(c.text or "")
    return match is not None and int(match[1]) == c.id


def _field(c: Column, by_name: Mapping[str, Field], reading: Reading) -> Field:
    known = by_name.get(decode(c.name))
    if known is not None and known.nullable is not None and known.type is not None:
        return known
    own = reading.type_of(f"{c.name}#{c.id}") if c.id is not None else UNKNOWN
    if own.type is None and c.text is not None:
        own = reading.type_of(c.text)
    kind = known.type if known is not None and known.type is not None else own.type
    if kind is None and (call := writer_in(reading.text_of(c.text or f"{c.name}#{c.id}"))):
        kind = "binary" if call.name in ("to_avro", "to_protobuf") else "string"
    return Field(c.name, kind, own.nullable)


def _headings(plans: Sequence[Plan], names: Sequence[str]) -> dict[str, Field]:
    """Return the columns in the line above an analysed plan, as far as it is not cut.

    It has no numbers: with an odd name among the columns, it must be of these in their order.
    """
    text = next((p.result for p in plans if p.result), "")
    if any(map(is_odd, names)):
        found = re.fullmatch(", ".join(f"{re.escape(n)}: (.+?)" for n in names), text, re.S)
        kinds = found.groups() if found else ()
        return {n: Field(n, from_sql(kind)) for n, kind in zip(names, kinds, strict=False)}
    out: dict[str, Field] = {}
    for part in angle_split(text) if text else ():
        name, mark, kind = part.partition(": ")
        if mark:
            out[name] = Field(name, from_sql(kind))
    return out


def _payload(c: Column, reading: Reading) -> Payload | None:
    call = writer_in(reading.text_of(c.text or f"{c.name}#{c.id}"))
    if call is None or not call.arguments:
        return None
    fields = _packed(call, reading)
    declared = next((a for a in map(avro_in, call.arguments[1:]) if a), None)
    return Payload(
        column=c.name,
        writer=call.name,
        schema=None if fields is None else Schema(fields),
        declared=declared,
    )


def avro_in(text: str) -> str | None:
    """Return the Avro schema that an argument is: JSON, or that within `Some(...)`."""
    found = text.strip()
    if found.startswith("Some(") and found.endswith(")"):
        found = found[5:-1].strip()
    return found if found[:1] in ("{", "[", '"') and len(found) > 1 else None


def _packed(call: Call, reading: Reading) -> tuple[Field, ...] | None:
    """Return the fields of what is packed: by its printed type, its parts, or its column's type."""
    if call.of is not None and (known := struct_fields(from_scala(call.of))) is not None:
        return known
    text = reading.text_of(call.arguments[0])
    if _STRUCT.match(text):
        return _of_parts(text, reading)
    return struct_fields(reading.type_of(text).type)


def _of_parts(text: str, reading: Reading) -> tuple[Field, ...] | None:
    """Read `struct(a, x#1, b, y#2)`: names and values in turn."""
    parts = arguments(text, text.index("("))
    if len(parts) % 2:
        return None
    known = [reading.type_of(value) for value in parts[1::2]]
    return tuple(
        Field(name, kind.type, kind.nullable) for name, kind in zip(parts[::2], known, strict=True)
    )


def struct_fields(kind: Any) -> tuple[Field, ...] | None:
    """Return the fields of a struct in Spark's JSON; None for another type."""
    if not isinstance(kind, dict) or kind.get("type") != "struct":
        return None
    return tuple(Field(f["name"], f["type"], f.get("nullable")) for f in kind["fields"])
