"""Every rule about schemas: a pair that it finds, and the same pair the other way or unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headgate.model.topic_schema import Direction, Effect, SchemaFinding, SchemaText
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.codes import RULES
from headgate.rules.topic_schemas.compare import check

BACK, FORTH = Direction.BACKWARD, Direction.FORWARD


def record(*fields: dict[str, Any], name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def f(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def fixed(size: int) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size}


def proto(body: str, rest: str = "", package: str = "shop", syntax: str = "proto3") -> str:
    return f'syntax = "{syntax}"; package {package}; message Order {{ {body} }} {rest}'


def obj(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


S, N = {"type": "string"}, {"type": "integer"}
PART = "message Part { string a = 1; } message Piece { string a = 1; }"
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}

# rule, direction, before, after, path. The rule must fire here and for no unchanged pair.
CASES: list[tuple[str, Direction, Any, Any, str]] = [
    ("SCH001", BACK, record(f("a", "int")), obj({"a": N}), ""),
    ("SCH101", BACK, record(f("a", "long")), record(f("a", "int")), "a"),
    ("SCH101", FORTH, record(f("a", "int")), record(f("a", "string")), "a"),
    ("SCH101", BACK, record(f("a", ["null", "long"])), record(f("a", ["null", "int"])), "a"),
    ("SCH102", BACK, record(f("a", "int")), record(f("a", "int"), f("b", "int")), "b"),
    ("SCH102", FORTH, record(f("a", record(f("x", "int"), f("y", "int"), name="I"))),
     record(f("a", record(f("x", "int"), name="I"))), "a.y"),
    ("SCH103", BACK, record(f("a", "int")), record(f("a", "int"), name="Q"), ""),
    ("SCH104", BACK, record(f("a", enum("X", "Y"))), record(f("a", enum("X"))), "a"),
    ("SCH105", BACK, record(f("a", fixed(4))), record(f("a", fixed(8))), "a"),
    ("SCH106", BACK, record(f("a", ["null", "int"])), record(f("a", "int")), "a"),
    ("SCH106", BACK, record(f("a", ["int", "string", "boolean"])),
     record(f("a", ["int", "string"])), "a"),
    ("SCH111", BACK, record(f("a", MILLIS)), record(f("a", MICROS)), "a"),
    ("SCH111", BACK, record(f("a", PRICE)), record(f("a", {**PRICE, "scale": 3})), "a"),
    ("SCH112", FORTH, record(f("a", "int"), f("b", "int", default=0)), record(f("a", "int")), "b"),
    ("SCH113", BACK, record(f("a", enum("X", "Y"))), record(f("a", enum("X", default="X"))), "a"),
    ("SCH201", BACK, proto("int32 a = 1;", PART), proto("int32 a = 1;", PART[:30]), "Piece"),
    ("SCH202", BACK, proto("int32 a = 1;"), proto("string a = 1;"), "a"),
    ("SCH202", BACK, proto("map<string, int32> a = 1;"), proto("int32 a = 1;"), "a"),
    ("SCH202", FORTH, proto("int32 a = 1;"), proto("sint32 a = 1;"), "a"),
    ("SCH203", BACK, proto("Part a = 1;", PART), proto("Piece a = 1;", PART), "a"),
    ("SCH204", BACK, proto("optional int32 a = 1;", syntax="proto2"),
     proto("optional int32 a = 1; required int32 b = 2;", syntax="proto2"), "b"),
    ("SCH204", BACK, proto("required int32 a = 1;", syntax="proto2"),
     proto("optional int32 b = 2;", syntax="proto2"), "a"),
    ("SCH205", BACK, proto("int32 a = 1; int32 b = 2;"),
     proto("oneof o { int32 a = 1; int32 b = 2; }"), "o"),
    ("SCH205", BACK, proto("int32 a = 1; oneof o { int32 b = 2; }"),
     proto("oneof o { int32 a = 1; int32 b = 2; }"), "o"),
    ("SCH206", BACK, proto("oneof o { int32 a = 1; int32 b = 2; }"),
     proto("oneof o { int32 a = 1; }"), "b"),
    ("SCH207", BACK, proto("int32 a = 1;"), proto("int32 a = 1;", package="other"), ""),
    ("SCH211", FORTH, proto("int32 a = 1; int32 b = 2;"), proto("int32 a = 1;"), "b"),
    ("SCH212", BACK, proto("int32 a = 1;"), proto("int32 b = 1;"), "b"),
    ("SCH213", BACK, proto("int64 a = 1;"), proto("int32 a = 1;"), "a"),
    ("SCH213", BACK, proto("int64 a = 1;"), proto("uint64 a = 1;"), "a"),
    ("SCH214", BACK, proto("repeated int32 a = 1;"), proto("int32 a = 1;"), "a"),
    ("SCH215", BACK, proto("K a = 1;", "enum K { X = 0; Y = 1; }"),
     proto("K a = 1;", "enum K { X = 0; }"), "K.Y"),
    ("SCH216", BACK, proto("int32 a = 1; reserved 2;"), proto("int32 a = 1; int32 b = 2;"), "b"),
    ("SCH216", FORTH, proto('int32 a = 1; reserved "b";'), proto("int32 a = 1; int32 b = 2;"),
     "b"),
    ("SCH301", BACK, obj({"a": {"type": "number"}}), obj({"a": N}), "a"),
    ("SCH301", BACK, obj({"a": {"type": ["string", "null"]}}), obj({"a": S}), "a"),
    ("SCH302", BACK, obj({"a": S}), obj({"a": S}, required=["a"]), "a"),
    ("SCH302", BACK, obj({"a": S}), obj({"a": S, "b": S}, required=["b"]), "b"),
    ("SCH303", BACK, {"type": "object", "properties": {"a": S}},
     {"type": "object", "properties": {"a": S, "b": N}}, "b"),
    ("SCH304", BACK, obj({"a": S, "b": S}), obj({"a": S}), "b"),
    ("SCH305", BACK, {**obj({"a": S}), "additionalProperties": True}, obj({"a": S}),
     "additionalProperties"),
    ("SCH306", BACK, obj({"a": S}), obj({"a": {**S, "maxLength": 3}}), "a.maxLength"),
    ("SCH306", BACK, obj({"a": {**N, "minimum": 1}}), obj({"a": {**N, "minimum": 2}}),
     "a.minimum"),
    ("SCH307", BACK, obj({"a": {"enum": ["x", "y"]}}), obj({"a": {"enum": ["x"]}}), "a"),
    ("SCH307", BACK, obj({"a": {"const": "x"}}), obj({"a": {"const": "y"}}), "a"),
    ("SCH308", BACK, obj({"a": {"oneOf": [S, N]}}), obj({"a": {"oneOf": [S]}}), "a"),
    ("SCH308", BACK, obj({"a": {"anyOf": [S, N]}}), obj({"a": {"allOf": [S, N]}}), "a"),
    ("SCH309", BACK, obj({"a": S, "b": S}), obj({"a": S, "b": S}, dependencies={"a": ["b"]}),
     "dependencies.a"),
    ("SCH310", BACK, obj({"a": {}}), obj({"a": {"not": S}}), "a.not"),
    ("SCH311", BACK, obj({"a": {"type": "array", "items": [S]}}),
     obj({"a": {"type": "array", "items": [S, N]}}), "a[1]"),
    ("SCH312", BACK, obj({"a": {**S, "format": "date"}}), obj({"a": {**S, "format": "time"}}),
     "a"),
]  # fmt: skip


def found(before: Any, after: Any, direction: Direction) -> list[SchemaFinding]:
    old, new = (
        read_schema(SchemaText(s if isinstance(s, str) else json.dumps(s))) for s in (before, after)
    )
    return check(old, new, direction)


@pytest.mark.parametrize(("code", "direction", "before", "after", "path"), CASES)
def test_a_rule_fires_at_its_path_and_not_where_nothing_changed(
    code, direction, before, after, path
):
    hits = [x for x in found(before, after, direction) if x.rule == code]
    assert [x.path for x in hits] == [path]
    assert not found(before, before, direction)
    assert not found(after, after, direction)


def test_every_rule_about_schemas_has_a_case():
    of_schemas = {r.code for r in RULES if not r.code.startswith("SCH4")}
    assert of_schemas == {case[0] for case in CASES}


def test_rules_have_codes_of_their_own_and_say_why_and_whence():
    assert len({r.code for r in RULES}) == len(RULES)
    assert all(r.why and r.source.startswith("https://") and r.remedy for r in RULES)


# before, after, direction: what Avro, Protobuf and the registries allow.
ALLOWED = [
    (record(f("a", "int")), record(f("a", "long")), BACK),
    (record(f("a", "int")), record(f("a", "int"), f("b", ["null", "int"], default=None)), BACK),
    (record(f("a", "int"), f("b", "int")), record(f("a", "int")), BACK),
    (record(f("a", "int")), record(f("b", "int", aliases=["a"])), BACK),
    (record(f("a", "int")), record(f("a", "int"), name="Q", aliases=["R"]), BACK),
    (record(f("a", "int")), record(f("a", ["null", "int"])), BACK),
    (record(f("a", enum("X"))), record(f("a", enum("X", "Y"))), BACK),
    (proto("int32 a = 1;"), proto("int64 a = 1;"), BACK),
    (proto("int32 a = 1;"), proto("int32 a = 1; string b = 2;"), BACK),
    (proto("int32 a = 1; string b = 2;"), proto("int32 a = 1; reserved 2;"), BACK),
    (proto("string a = 1;"), proto("bytes a = 1;"), FORTH),
    (obj({"a": N}), obj({"a": {"type": "number"}}), BACK),
    (obj({"a": S}), obj({"a": S, "b": S}), BACK),
    (obj({"a": S}), obj({"a": S, "b": {**S, "default": ""}}, required=["b"]), BACK),
    (obj({"a": {"enum": ["x"]}}), obj({"a": {"enum": ["x", "y"]}}), BACK),
    (obj({"a": S}), obj({"a": {"oneOf": [N, S]}}), BACK),
    (obj({"a": S, "b": S}), obj({"a": S}), FORTH),
]


@pytest.mark.parametrize(("before", "after", "direction"), ALLOWED)
def test_what_the_formats_allow_is_no_finding(before, after, direction):
    assert not found(before, after, direction)


def test_before_and_after_are_of_the_versions_whoever_reads():
    old, new = record(f("a", "int")), record(f("a", "string"))
    for direction in Direction:
        (finding,) = found(old, new, direction)
        assert (finding.before, finding.after) == ("int", "string")


def test_a_breach_in_a_nested_list_names_the_whole_path():
    def order(kind: str) -> dict[str, Any]:
        item = record(f("price", kind), name="Item")
        return record(f("items", {"type": "array", "items": item}))

    (finding,) = found(order("int"), order("string"), BACK)
    assert (finding.rule, finding.path) == ("SCH101", "items[].price")
    assert finding.effect is Effect.INCOMPATIBLE
