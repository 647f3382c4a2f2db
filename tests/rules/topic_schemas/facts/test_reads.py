"""Which fields a pipeline reads: by hand-written plans, and by real ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from headgate.model.topic_schema import FieldChange, FieldChangeKind
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Source, Version
from headgate.rules.topic_schemas.consumers import judge_reads
from headgate.rules.topic_schemas.facts.expression_reads import usages
from headgate.rules.topic_schemas.facts.field_reads import Certainty, topic_use
from headgate.usecases.evidence.read_version import read_version

CASES = Path(__file__).parents[3] / "cases/spark"
JSON = "from_json(cast(s0.value as string))"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (f"{JSON}.k", ["k"]),
        (f"sum({JSON}.a.b)", ["a.b"]),
        (f"({JSON}.v > {JSON}.w)", ["v", "w"]),
        (f"{JSON}.items[0].price", ["items[].price"]),
        ("get_json_object(cast(s0.value as string), $.a.b)", ["a.b"]),
        ("get_json_object(cast(s0.value as string), $['a'][0].b)", ["a[].b"]),
        ("json_tuple(cast(s0.value as string), c, d)", ["c", "d"]),
        ("variant_get(parse_json(cast(s0.value as string), true), $.a, IntegerType)", ["a"]),
        ('from_avro(s0.value, ["name":"x (y"], null).id', ["id"]),
        ("from_avro(substring(s0.value, 6, 100), [], null).id", ["id"]),
        ("from_protobuf(s0.value, shop.Order, null).`a b`", ["a b"]),
        ("from_json(cast(s0.value as string)).`City, State`", ["City, State"]),
        ("isnotnull(s0.value)", []),
        ("(s0.value IS NOT NULL)", []),
        ("s1.value", []),
        ("ss0.value", []),
        ("s0.value2", []),
    ],
)
def test_a_field_that_an_expression_takes_out_is_read(text, paths):
    assert [u.path for u in usages(text, ("s0.value",))] == paths


@pytest.mark.parametrize(
    "text", ["s0.value", "cast(s0.value as string)", "md5(s0.value)", "concat(s0.key, s0.value)"]
)
def test_a_record_that_goes_on_as_it_is_is_whole(text):
    (usage,) = usages(text, ("s0.value",))
    assert usage.is_whole and usage.path is None


def version(*columns: dict[str, str], sink: str = "kafka") -> Version:
    """One Kafka source, a projection for each of `columns`, one sink."""
    names = [f"p{i}" for i in range(len(columns))]
    nodes = [
        Node("source", NodeKind.SOURCE, "kafka", "kafka orders"),
        *(
            Node(n, NodeKind.TRANSFORM, "project", n, details={"columns": c})
            for n, c in zip(names, columns, strict=True)
        ),
        Node("sink", NodeKind.SINK, sink, "kafka out"),
    ]
    ids = [n.id for n in nodes]
    edges = tuple(Edge(a, b) for a, b in pairwise(ids))
    source = Source(position=0, format="kafka", topics=("orders",), node="source")
    return Version(engine=Engine.SPARK, sources=(source,), topology=Topology(tuple(nodes), edges))


def reading(path: str, *columns: dict[str, str]) -> Certainty:
    return topic_use("p", version(*columns), "orders", "value").of(path).certainty


def test_a_field_that_a_projection_takes_is_read_and_its_neighbour_is_not():
    columns = {"k": f"{JSON}.k"}
    assert reading("k", columns) is Certainty.DEFINITE
    assert reading("k.inner", columns) is Certainty.DEFINITE
    assert reading("other", columns) is Certainty.NO


def test_a_whole_record_counts_only_where_it_reaches_the_end():
    raw, picked = {"value": "cast(s0.value as string)"}, {"k": f"{JSON}.k"}
    assert reading("other", raw) is Certainty.POSSIBLE
    assert reading("other", raw, picked) is Certainty.NO


def test_a_parsed_record_that_goes_on_may_hold_what_its_schema_names():
    parsed = "from_json(StructField(k, StringType, true), cast(s0.value as string), Some(UTC))"
    assert reading("k", {"j": parsed}) is Certainty.POSSIBLE
    assert reading("other", {"j": parsed}) is Certainty.NO


def test_without_a_projection_the_sink_gets_whole_records():
    assert reading("k") is Certainty.POSSIBLE


@pytest.mark.parametrize("engine", [Engine.KAFKA_STREAMS, Engine.CONSUMER_GROUP])
def test_what_code_does_with_a_record_is_unknown_with_its_question(engine):
    read = topic_use("p", Version(engine=engine), "orders", "value").of("k")
    assert read.certainty is Certainty.UNKNOWN
    assert read.question == "Does the pipeline p need the field k?"


def test_without_a_version_or_a_plan_it_is_unknown():
    source = Source(position=0, topics=("orders",))
    for known in (None, Version(engine=Engine.SPARK, sources=(source,))):
        read = topic_use("p", known, "orders", "value").of("k")
        assert read.certainty is Certainty.UNKNOWN


def test_a_plan_whose_expressions_are_not_known_proves_nothing():
    assert reading("k", {}) is Certainty.UNKNOWN


def test_a_query_that_spark_ran_reads_what_its_plan_says():
    ran = read_version([str(CASES / "kafka_topic_change/before")])
    (topic,) = ran.sources[0].topics
    use = topic_use("counts", ran, topic, "value")
    found = {path: use.of(path).certainty for path in ("k", "v", "d", "ts", "elsewhere")}
    assert found.pop("k") is found.pop("v") is Certainty.DEFINITE
    assert set(found.values()) == {Certainty.NO}


def test_a_field_that_goes_is_a_finding_for_each_of_its_readers():
    use = topic_use("p", version({"k": f"{JSON}.k"}), "orders", "value")
    gone = FieldChange(FieldChangeKind.REMOVED, "k", "string", None)
    (finding,) = judge_reads(gone, [use.of("k")])
    assert (finding.rule, finding.pipeline, finding.path) == ("SCH401", "p", "k")
    assert finding.why.startswith("The pipeline p reads the field k. Without the field, from_json")
    added = FieldChange(FieldChangeKind.ADDED, "k", None, "string")
    assert not list(judge_reads(added, [use.of("k")]))
    code = topic_use("q", Version(engine=Engine.KAFKA_STREAMS), "orders", "value")
    (unknown,) = judge_reads(gone, [code.of("k")])
    assert (unknown.rule, unknown.question) == ("SCH402", "Does the pipeline q need the field k?")
