"""The output's columns and what is packed in them, from plans that Spark 4.2.0 printed."""

import json

import pytest

from headgate.model.state_schema import Field
from headgate.parse.spark.operators.plan_forms import read_plans
from headgate.parse.spark.plan_json.expression import expression
from headgate.parse.spark.query.version import Pieces, build_version

ORDER = (
    '{"type":"record","name":"O","fields":[{"name":"id","type":"long"},'
    '{"name":"n","type":["null","string"],"default":null}]}'
)
RATE = "StreamingRelation rate, [timestamp#0, value#1L]"
STRUCT = "struct(value, value#1L, at, timestamp#0)"
TYPES = "StructType(StructField(value,LongType,true),StructField(at,TimestampType,true))"
EVALUATED = f"invoke(StructsToJsonEvaluator(Map(),{TYPES},Some(Etc/UTC)).evaluate({STRUCT}))"
FIELDS = (Field("value", "long", True), Field("at", "timestamp", True))


def version_of(text):
    return build_version(Pieces(plans=read_plans(text)))


def analyzed(result, project):
    return f"== Analyzed Logical Plan ==\n{result}\n~Project [{project}]\n+- ~{RATE}\n"


def physical(project):
    return f"== Physical Plan ==\n*(1) Project [{project}]\n+- {RATE}\n"


@pytest.mark.parametrize(
    "text",
    [
        analyzed(
            "key: string, value: string",
            f"cast(value#1L as string) AS key#2, to_json({STRUCT}, Some(Etc/UTC)) AS value#4",
        ),
        physical(f"cast(value#1L as string) AS key#2, {EVALUATED} AS value#4"),
    ],
    ids=["analyzed", "physical"],
)
def test_json_tells_its_fields_in_every_form(text):
    sink = version_of(text).sink
    assert [(f.name, f.type) for f in sink.schema.fields] == [
        ("key", "string"),
        ("value", "string"),
    ]
    assert sink.made_by == {
        "key": "cast(s0.value as string)",
        "value": "to_json(named_struct(value, s0.value, at, s0.timestamp))",
    }
    (payload,) = sink.payloads
    assert (payload.column, payload.writer, payload.schema.fields) == ("value", "to_json", FIELDS)


@pytest.mark.parametrize("schema", [ORDER, f"Some({ORDER})"], ids=["analyzed", "physical"])
def test_avro_tells_its_fields_and_the_schema_that_was_given(schema):
    project = f"to_avro(struct(id, value#1L, n, x), {schema}) AS value#5"
    (payload,) = version_of(physical(project)).sink.payloads
    assert payload.declared == ORDER
    assert [(f.name, f.type) for f in payload.schema.fields] == [("id", "long"), ("n", "string")]


def test_avro_without_a_schema_of_its_own_has_none():
    for none in ("null", "None"):
        project = f"to_avro(struct(value, value#1L), {none}) AS value#2"
        (payload,) = version_of(physical(project)).sink.payloads
        assert payload.declared is None


def test_types_are_those_above_the_analysed_plan():
    text = analyzed("n: decimal(10,2), s: struct<a:int,b:string>", "f(value#1L) AS n#2, x#3 AS s#4")
    types = [f.type for f in version_of(text).sink.schema.fields]
    assert types[0] == "decimal(10,2)"
    assert [f["type"] for f in types[1]["fields"]] == ["integer", "string"]


def test_a_parsed_or_a_cut_plan_tells_no_output():
    parsed = f"== Parsed Logical Plan ==\n'Project ['value]\n+- ~{RATE}\n"
    cut = "== Physical Plan ==\nProject [a#1, ... 23 more fields]\n+- FileScan json [a#1]\n"
    assert version_of(parsed).sink.schema is None
    assert version_of(cut).sink.schema is None


MAP = f"map(mode, PERMISSIVE, avroSchema, {ORDER})"
PAIRS = f"(mode,PERMISSIVE), (avroSchema,{ORDER})"


@pytest.mark.parametrize("options", [MAP, PAIRS], ids=["analyzed", "physical"])
def test_avro_is_read_with_both_of_its_schemas(options):
    call = f"from_avro(substring(cast(value#1L as binary), 6, 2147483647), {ORDER}, {options})"
    (parsed,) = version_of(physical(f"{call} AS o#7")).parsed
    assert parsed.columns == ("s0.value",)
    assert (parsed.declared, parsed.evolved) == (ORDER, ORDER)


def test_a_field_of_avro_means_the_same_however_long_the_schema_is():
    long = ORDER.replace('"n"', f'"{"n" * 5000}"')
    project = f"from_avro(value#1L, {long}, map(mode, PERMISSIVE)).id AS id#8L"
    version = version_of(physical(project))
    assert version.sink.made_by == {"id": "from_avro(s0.value).id"}
    assert version.parsed[0].declared == long


def test_what_the_optimiser_left_of_a_json_schema_is_put_together():
    def field(name, kind):
        call = f"from_json(StructField({name},{kind},true), cast(value#1L as string), Some(UTC))"
        return f"{call}.{name} AS {name}#{len(name)}"

    pruned = physical(f"{field('id', 'LongType')}, {field('name', 'StringType')}")
    (parsed,) = version_of(pruned).parsed
    assert parsed.is_pruned
    assert [f.name for f in parsed.schema.fields] == ["id", "name"]


def test_a_plans_json_prints_avro_as_explain_does():
    expressions = "org.apache.spark.sql.catalyst.expressions"
    nodes = [
        {"class": f"{expressions}.FromAvro", "num-children": 3},
        {
            "class": f"{expressions}.AttributeReference",
            "num-children": 0,
            "name": "value",
            "dataType": "binary",
            "exprId": {"id": 6},
        },
        {
            "class": f"{expressions}.Literal",
            "num-children": 0,
            "value": ORDER,
            "dataType": "string",
        },
        {"class": f"{expressions}.CreateMap", "num-children": 2},
        {"class": f"{expressions}.Literal", "num-children": 0, "value": "mode"},
        {"class": f"{expressions}.Literal", "num-children": 0, "value": "PERMISSIVE"},
    ]
    assert expression(json.loads(json.dumps(nodes))) == (
        f"from_avro(value#6, {ORDER}, map(mode, PERMISSIVE))"
    )
