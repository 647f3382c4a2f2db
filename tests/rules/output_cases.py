"""Outputs whose fields changed: versions for the tests of their rules."""

from dataclasses import replace

from headgate.model.output_columns import Parsed, Payload
from headgate.model.state_schema import Field, Schema
from headgate.model.version import Sink
from headgate.rules.core.report import Outcome

from .build import kafka, version

W, U, OK = Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES
ID, NAME, TOTAL = Field("id", "long"), Field("name", "string"), Field("total", "double")


def to_topic(*fields, writer="to_json", key="s0.id", declared=None):
    """Return a version whose records hold these fields."""
    columns = Schema((Field("key", "string"), Field("value", "string")))
    payload = Payload(column="value", writer=writer, schema=Schema(fields), declared=declared)
    sink = Sink(
        format="kafka",
        target="out",
        node="sink",
        schema=columns,
        made_by={"key": key},
        payloads=(payload,),
    )
    return version(sink=sink)


def to_folder(*fields, form="parquet", path="/out", made_by=None):
    """Return a version that writes these columns as files."""
    sink = Sink(format=form, target=path, node="sink", schema=Schema(fields), made_by=made_by or {})
    return version(sink=sink, output_mode="append")


def reading(*fields, **more):
    """Return a version that parses its records with this schema."""
    schema = Schema(fields) if fields else None
    more.setdefault("function", "from_json")
    parsed = Parsed(columns=("s0.value",), schema=schema, **more)
    return version(sources=(kafka(),), parsed=(parsed,))


BEFORE = to_topic(ID, TOTAL)
FILES = to_folder(ID, NAME)
CASES = {
    "OUT001": (BEFORE, to_topic(ID), OK, to_topic(TOTAL, ID, NAME)),
    "OUT002": (BEFORE, to_topic(ID, replace(TOTAL, type="string")), OK, BEFORE),
    "OUT003": (BEFORE, to_topic(ID, TOTAL, key="cast(s0.name as string)"), OK, to_topic(ID)),
    "OUT004": (
        to_folder(ID, made_by={"id": "s0.id"}),
        to_folder(ID, made_by={"id": "s0.other_id"}),
        OK,
        to_folder(ID, made_by={"id": "s0.id"}),
    ),
    "OUT005": (
        to_folder(ID, NAME, form="csv"),
        to_folder(NAME, ID, form="csv"),
        W,
        to_folder(ID, NAME, TOTAL, form="csv"),
    ),
    "OUT006": (FILES, to_folder(replace(ID, type="string"), NAME), W, to_folder(ID, TOTAL)),
    "OUT007": (
        to_topic(ID, writer="to_avro"),
        to_topic(ID, NAME, writer="to_avro"),
        OK,
        to_topic(ID, writer="to_avro"),
    ),
    "RDS001": (
        reading(function="from_avro", declared='{"type": "long", "doc": "a"}'),
        reading(function="from_avro", declared='{"type": "string"}'),
        U,
        reading(function="from_avro", declared='{"type": "long", "doc": "b"}'),
    ),
    "RDS006": (
        reading(function="from_avro", mode="PERMISSIVE"),
        reading(function="from_avro"),
        U,
        reading(function="from_avro", mode="permissive"),
    ),
    "RDS005": (reading(ID), reading(ID, NAME), OK, reading(ID)),
}
