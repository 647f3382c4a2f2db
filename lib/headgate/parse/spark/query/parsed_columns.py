"""How a query takes packed columns of its sources apart: with which schema, as its plan says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from headgate.model.output_columns import Parsed
from headgate.model.state_schema import Field, Schema
from headgate.parse.spark.explain.printed_plan import Plan
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.expression.type_names import struct_field
from headgate.parse.spark.operators.canonical import Shape
from headgate.parse.spark.operators.relation import Relation
from headgate.parse.spark.query.output_columns import BEST, avro_in
from headgate.parse.spark.query.packed_columns import Call, arguments, parsers_in

_WHOLE = ("json", "analyzed")
_SOURCE = re.compile(r"^s\d+\.")
_MAP = re.compile(r"^(?:map)?\(")


def parsed_columns(plans: Sequence[Plan], shapes: Sequence[Shape]) -> tuple[Parsed, ...]:
    """Return each parsing call once, by the form that shows most; none if no plan is whole."""
    pairs = [(p, s) for p, s in zip(plans, shapes, strict=True) if p.is_whole and p.form in BEST]
    if not pairs:
        return ()
    plan, shape = min(pairs, key=lambda pair: BEST.index(pair[0].form))
    pruned = plan.form not in _WHOLE
    found: dict[tuple[str, tuple[str, ...], str | None], Parsed] = {}
    for one in _found(shape, pruned):
        key = (one.function, one.columns, one.declared if pruned else repr(one))
        found[key] = _merged(found[key], one) if key in found else one
    return tuple(found.values())


def _found(shape: Shape, pruned: bool) -> Iterator[Parsed]:
    look = shape.resolved.terms
    for relation in shape.resolved.query.relations:
        for text in _texts(relation):
            for call in parsers_in(text) if "from_" in text else ():
                made = _parsed(call, pruned)
                child = _child(call)
                if made is None or child is None:
                    continue
                columns = _columns(parse(child, lambda n, _: look.get(n)))
                yield replace(made, columns=columns)


def _texts(relation: Relation) -> Iterator[str]:
    yield from (c.text for c in relation.outputs if c.text is not None)
    yield from (*relation.keys, *relation.right_keys, *relation.functions)
    if relation.condition:
        yield relation.condition


def _child(call: Call) -> str | None:
    """Return what is parsed: of from_json the first argument that isn't a field."""
    given = (a for a in call.arguments if not a.startswith(("StructField(", "StructType(")))
    return next(given, None)


def _columns(found: Term) -> tuple[str, ...]:
    names: dict[str, None] = {}
    stack = [found]
    while stack:
        current = stack.pop()
        if current.kind == "attribute" and _SOURCE.match(current.text):
            names[current.text] = None
        stack.extend(current.args)
    return tuple(names)


def _parsed(call: Call, pruned: bool) -> Parsed | None:
    match call.name:
        case "from_json":
            return Parsed(function=call.name, schema=_json_fields(call), is_pruned=pruned)
        case "from_avro":
            schema = next((s for a in call.arguments[1:] if (s := avro_in(a))), None)
            return Parsed(
                function=call.name,
                declared=schema,
                evolved=_option(call, "avroschema"),
                mode=_option(call, "mode"),
            )
        case "from_protobuf":
            message = next(iter(call.arguments[1:]), None)
            return Parsed(function=call.name, message=message, mode=_option(call, "mode"))
    return None


def _option(call: Call, wanted: str) -> str | None:
    """Return an option out of `map(mode, X, avroSchema, {...})` or `(avroSchema,{...})`."""
    for text in call.arguments[1:]:
        match = _MAP.match(text)
        parts = arguments(text, match.end() - 1) if match else []
        pairs = zip(parts[::2], parts[1::2], strict=False)
        for name, value in pairs:
            if name.lower() == wanted:
                return value
    return None


def _json_fields(call: Call) -> Schema | None:
    """Return the fields of from_json; None for a map, an array, or where one can't be read."""
    given = [struct_field(a) for a in call.arguments if a.startswith("StructField(")]
    if not given:
        return None
    known = [f for f in given if f is not None]
    if len(known) != len(given):
        return None
    return Schema(tuple(Field(f["name"], f["type"], f["nullable"]) for f in known))


def _merged(one: Parsed, other: Parsed) -> Parsed:
    """Put together what the optimiser left of one schema in two calls."""
    if one.schema is None or other.schema is None:
        return one
    fields = {f.name: f for f in (*one.schema.fields, *other.schema.fields)}
    return replace(one, schema=Schema(tuple(fields.values())))
