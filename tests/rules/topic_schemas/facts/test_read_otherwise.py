"""What is read with another schema than it was written with: Avro's own decoder is the judge."""

import io
import json
from random import Random

import pytest
from avro.io import BinaryDecoder, BinaryEncoder, DatumReader, DatumWriter
from avro.schema import parse

from headgate.model.state_schema import Field, Schema
from headgate.model.topic_schema import SchemaText
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.facts.spark_avro_layout import misread
from headgate.rules.topic_schemas.facts.spark_json_fields import misfits
from rules.topic_schemas import made

PAIRS, RECORDS = 400, 3


def value(rng, kind):
    """A value of an Avro type, by its JSON."""
    if isinstance(kind, list):
        return value(rng, rng.choice(kind))
    name = kind["type"] if isinstance(kind, dict) else kind
    match name:
        case "record":
            return {f["name"]: value(rng, f["type"]) for f in kind["fields"]}
        case "array":
            return [value(rng, kind["items"]) for _ in range(rng.randint(0, 2))]
        case "map":
            return {f"k{i}": value(rng, kind["values"]) for i in range(rng.randint(0, 2))}
        case "enum":
            return rng.choice(kind["symbols"])
        case "fixed":
            return rng.randbytes(kind["size"])
        case "int" | "long":
            return rng.randint(-100, 100)
        case "float" | "double":
            return float(rng.randint(-8, 8))
        case "string":
            return rng.choice(("", "a", "bc"))
        case "bytes":
            return rng.choice((b"", b"a", b"bc"))
        case "boolean":
            return rng.random() < 0.5
    return None


def leaves(found):
    """The values of a record in the order in which they are written; text as its bytes."""
    if isinstance(found, dict):
        return [v for inner in found.values() for v in leaves(inner)]
    if isinstance(found, list):
        return [v for inner in found for v in leaves(inner)]
    return [found.encode() if isinstance(found, str) else found]


def decoded(record, written, read):
    """What a reader gets that takes the bytes for its own schema's, as Spark's from_avro does."""
    out = io.BytesIO()
    DatumWriter(parse(json.dumps(written))).write(record, BinaryEncoder(out))
    reader = parse(json.dumps(read))
    return DatumReader(reader, reader).read(BinaryDecoder(io.BytesIO(out.getvalue())))


def test_where_nothing_is_misread_the_decoder_gives_what_was_written():
    silent = told = 0
    for number in range(PAIRS):
        rng = Random(number)
        written = made.avro(rng)
        read = made.changed_avro(rng, written)
        found = misread(*(read_schema(SchemaText(json.dumps(s))) for s in (read, written)))
        if found:
            told += 1
            continue
        silent += 1
        for _ in range(RECORDS):
            record = value(rng, written)
            got = leaves(decoded(record, written, read))
            assert got == leaves(record)[: len(got)], (written, read)
    assert silent > PAIRS / 8 and told > PAIRS / 8


def record(*fields):
    return {"type": "record", "name": "R", "fields": [{"name": n, "type": t} for n, t in fields]}


@pytest.mark.parametrize(
    ("written", "read", "said"),
    [
        (record(("a", "long"), ("b", "long")), record(("b", "long"), ("a", "long")),
         ("The field a of the records is read as the field b.",
          "The field b of the records is read as the field a.")),
        (record(("a", "long")), record(("a", "int")),
         ("The field a is written as long and read as int.",)),
        (record(("a", "int")), record(("a", "long")), ()),
        (record(("a", "long")), record(("renamed", "long")), ()),
        (record(("a", "long"), ("b", "int")), record(("a", "long")), ()),
        (record(("a", "long")), record(("a", "long"), ("b", "int")),
         ("The reader schema has the field b, but the records lack it.",)),
        (record(("a", "string")), record(("a", ["null", "string"])),
         ("The field a is written as string and read as null | string.",)),
    ],
)  # fmt: skip
def test_fields_are_told_apart_by_their_place(written, read, said):
    schemas = (read_schema(SchemaText(json.dumps(s))) for s in (read, written))
    assert misread(*schemas) == said


TOPIC = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "price": {"type": "number"},
        "name": {"type": ["string", "null"]},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {}}}},
    },
}
LINES = {
    "type": "array",
    "elementType": {"type": "struct", "fields": [{"name": "n", "type": "long"}]},
    "containsNull": True,
}


@pytest.mark.parametrize(
    ("name", "kind", "sure"),
    [
        ("id", "long", None),
        ("id", "string", None),
        ("id", "double", None),
        ("price", "long", True),
        ("price", "decimal(10,2)", None),
        ("name", "boolean", True),
        ("name", "timestamp", None),
        ("lines", LINES, None),
        ("lines", "long", True),
        ("absent", "string", False),
    ],
)
def test_what_from_json_makes_of_a_described_record(name, kind, sure):
    """What Spark 4.2.0 gives: null for a number with a fraction as long, text for a number."""
    found = misfits(Schema((Field(name, kind),)), read_schema(SchemaText(json.dumps(TOPIC))))
    assert [m.is_sure for m in found] == ([] if sure is None else [sure])
