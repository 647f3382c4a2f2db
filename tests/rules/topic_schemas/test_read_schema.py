"""Reading schemas: fields with paths, references, and one sentence for what is broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headgate.errors import SchemaError
from headgate.gateway.schema_registry.files import read_schema_file
from headgate.model.topic_schema import Mode, SchemaFormat, SchemaText
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.compare import compare

AVRO = """{"type": "record", "name": "Order", "namespace": "shop", "fields": [
  {"name": "id", "type": "string"},
  {"name": "placed", "type": {"type": "long", "logicalType": "timestamp-millis"}},
  {"name": "note", "type": ["null", "string"], "default": null},
  {"name": "parent", "type": ["null", "Order"], "default": null},
  {"name": "items", "type": {"type": "array", "items": {"type": "record", "name": "Item",
    "fields": [{"name": "price", "type": "double"}]}}},
  {"name": "tags", "type": {"type": "map", "values": "string"}}]}"""
PROTO = """syntax = "proto3"; package shop;
message Order { string id = 1; repeated Item items = 2; map<string, Item> by_code = 3;
  oneof pay { Card card = 4; string cash = 5; } message Item { double price = 1; Order of = 2; } }
message Card { string number = 1; }"""
JSON = """{"type": "object", "required": ["id"], "properties": {
  "id": {"type": "integer"}, "note": {"type": ["string", "null"], "default": ""},
  "items": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
  "$defs": {"item": {"type": "object", "properties": {"price": {"type": "number"},
    "parts": {"type": "array", "items": {"$ref": "#/$defs/item"}}}}}}"""


def fields(text: str) -> dict[str, tuple[str, bool, str]]:
    return {f.path: (f.type, f.optional, f.default) for f in read_schema(SchemaText(text)).fields}


def test_the_fields_of_an_avro_record_have_paths_types_and_defaults():
    assert fields(AVRO) == {
        "id": ("string", False, "—"),
        "placed": ("long (timestamp-millis)", False, "—"),
        "note": ("null | string", True, "null"),
        "parent": ("null | record shop.Order", True, "null"),
        "items": ("array of record shop.Item", False, "—"),
        "items[].price": ("double", False, "—"),
        "tags": ("map of string", False, "—"),
    }


def test_the_fields_of_a_protobuf_message_are_those_of_the_first_message():
    found = fields(PROTO)
    assert found["items"][0] == "repeated Order.Item"
    assert found["by_code"][0] == "map<string, Order.Item>"
    assert {"items[].price", "by_code{}.price", "card.number", "cash"} <= found.keys()


def test_the_fields_of_a_json_schema_follow_references_once():
    found = fields(JSON)
    assert found["id"] == ("integer", False, "—")
    assert found["note"] == ("null | string", True, '""')
    assert "items[].price" in found and "items[].parts" in found
    assert not any(p.count("parts") > 1 for p in found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("   \n", "is empty"),
        ("{", "isn't valid JSON"),
        ("42", "isn't an Avro, Protobuf or"),
        ('{"type": "record", "name": "A"}', "isn't an Avro schema"),
        (
            '{"type": "record", "name": "A", "fields": [{"name": "x", "type": "nope"}]}',
            "isn't an Avro",
        ),
        (
            '{"type": "record", "name": "1x", "fields": [{"name": "x", "type": "int"}]}',
            "isn't an Avro",
        ),
        ('{"type": "enum", "name": "A", "symbols": ["x", "x"]}', "isn't an Avro schema"),
        ('["int", "int"]', "isn't an Avro schema"),
        ('{"type": "object", "properties": {"a": {"type": "nope"}}}', "isn't a JSON Schema"),
        ('{"$ref": "other.json"}', "references other.json, which was not found"),
        (
            '{"properties": {"a": {"$ref": "#/nowhere"}}}',
            "has a $ref to #/nowhere, but doesn't define this schema. Correct the $ref",
        ),
        ('{"$ref": "other.json#/a"}', "references other.json, which was not found"),
        (
            '{"$ref": "https://x.org/a.json"}',
            "https://x.org/a.json, which Headgate doesn't download",
        ),
        ("message A { string x = 1 }", "isn't a Protobuf schema: line 1"),
        ("message A {", "isn't a Protobuf schema"),
        ("nonsense", "isn't a Protobuf schema"),
        ('syntax = "proto3";', "declares no message"),
        ('import "a.proto"; message B { A a = 1; }', "put a.proto next to"),
        ("message B { A a = 1; }", "uses A, but neither declares nor imports this type"),
        ("message A { " * 80 + "}" * 80, "nested too deeply"),
        ("[" * 100_000, "too deeply"),
        ('{"type": "array", "items": ' * 3000 + '"int"' + "}" * 3000, "too deeply"),
        ("x" * (9 << 20), "larger than 8 MiB"),
    ],
)
def test_what_is_no_schema_is_one_sentence(text, said):
    with pytest.raises(SchemaError) as caught:
        read_schema(SchemaText(text, name="orders"))
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_imports_beside_a_file_are_read_and_a_circle_ends(tmp_path: Path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common/money.proto").write_text(
        'syntax = "proto3"; package common; import "order.proto";'
        " message Money { int64 cents = 1; }"
    )
    order = tmp_path / "order.proto"
    order.write_text(
        'syntax = "proto3"; package shop; import "common/money.proto";'
        ' import "google/protobuf/timestamp.proto";'
        " message Order { common.Money total = 1; google.protobuf.Timestamp at = 2; }"
    )
    schema = read_schema(read_schema_file(str(order)))
    assert [f.path for f in schema.fields] == ["total", "total.cents", "at"]


def test_a_reference_to_a_file_beside_is_followed(tmp_path: Path):
    (tmp_path / "item.json").write_text('{"properties": {"price": {"type": "number"}}}')
    order = tmp_path / "order.json"
    order.write_text('{"properties": {"item": {"$ref": "item.json"}}}')
    schema = read_schema(read_schema_file(str(order)))
    assert [f.path for f in schema.fields] == ["item", "item.price"]


@pytest.mark.parametrize("name", ["nothing.avsc", "."])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str):
    with pytest.raises(SchemaError, match=r"not found|is a folder"):
        read_schema_file(str(tmp_path / name))


def test_bytes_that_are_no_text_are_one_sentence(tmp_path: Path):
    file = tmp_path / "a.avsc"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match="isn't UTF-8"):
        read_schema_file(str(file))


def test_recursive_types_that_differ_are_compared_and_end():
    old = json.loads(AVRO)
    new = json.loads(AVRO)
    new["fields"][4]["type"]["items"]["fields"][0]["type"] = "string"
    report = compare([_read(old)], _read(new), Mode.FULL)
    assert {(f.rule, f.path) for f in report.findings} == {("SCH101", "items[].price")}


@pytest.mark.slow
def test_a_schema_with_thousands_of_fields_is_compared():
    many = [{"name": f"f{i}", "type": "string"} for i in range(5000)]
    old = {"type": "record", "name": "Wide", "fields": many}
    new = {**old, "fields": many[1:]}
    report = compare([_read(old)], _read(new), Mode.FORWARD)
    assert [(f.rule, f.path) for f in report.findings] == [("SCH102", "f0")]


def _read(schema):
    return read_schema(SchemaText(json.dumps(schema), SchemaFormat.AVRO))
