"""What registered readers and registered schemas add to a comparison."""

import json
from dataclasses import replace
from functools import partial

import pytest

from headgate.model.state_schema import Field
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Sink, Source, Version
from headgate.parse.evidence.version_file import dump
from headgate.rules.core.report import Outcome
from headgate.usecases.compare.compare_versions import compare_versions
from headgate.usecases.context import open_context
from rules.build import kafka
from rules.output_cases import ID, TOTAL, reading, to_folder, to_topic

SPARK = '[[pipeline]]\nname = "{0}"\nengine = "spark"\nevidence = ["{0}.headgate.json"]\n'


def avro(*fields):
    listed = [{"name": n, "type": t} for n, t in fields]
    return json.dumps({"type": "record", "name": "Order", "fields": listed})


FIRST, SECOND = avro(("id", "long"), ("n", "string")), avro(("id", "long"), ("total", "double"))


def reader(expression, **more):
    """A pipeline that reads `out` and keeps what an expression takes of it."""
    nodes = (
        Node("in", NodeKind.SOURCE, "kafka", "kafka out"),
        Node("take", NodeKind.TRANSFORM, "project", "project", details={"columns": expression}),
        Node("sink", NodeKind.SINK, "console", "console"),
    )
    return Version(
        engine=Engine.SPARK,
        topology=Topology(nodes, (Edge("in", "take"), Edge("take", "sink"))),
        sources=(replace(kafka(topics=("out",)), node="in"),),
        stateful=(),
        sink=Sink(format="console", node="sink"),
        **more,
    )


def compared(folder, before, after, toml="", accept="", **files):
    """Compare two versions beside a headgate.toml and what it names."""
    for name, content in files.items():
        place = folder / (f"{name}.headgate.json" if isinstance(content, Version) else name)
        place.write_bytes(dump(content) if isinstance(content, Version) else content.encode())
    (folder / "headgate.toml").write_text(toml + accept)
    paths = []
    for side, version in (("old", before), ("new", after)):
        (folder / side).write_bytes(dump(version))
        paths.append(str(folder / side))
    context = open_context(str(folder / "headgate.toml"))
    return compare_versions(paths[:1], paths[1:], context=context)


@pytest.fixture
def diff(tmp_path):
    """Return `compared` in a folder of the test."""
    return partial(compared, tmp_path)


def told(report):
    return [(f.rule, f.outcome) for f in report.findings]


READS_TOTAL = reader({"total": "from_json(cast(s0.value as string)).total"})


def test_a_pipeline_that_reads_the_field_makes_it_silently_wrong(diff):
    report = diff(to_topic(ID, TOTAL), to_topic(ID), SPARK.format("billing"), billing=READS_TOTAL)
    assert told(report) == [("DWN001", Outcome.SILENTLY_WRONG), ("OUT001", Outcome.RESUMES)]
    assert "billing reads the field total" in report.findings[0].why
    assert "billing" in report.findings[0].remedy


def test_a_field_that_nobody_reads_goes_in_peace(diff):
    report = diff(
        to_topic(ID, TOTAL), to_topic(TOTAL), SPARK.format("billing"), billing=READS_TOTAL
    )
    assert report.outcome is Outcome.RESUMES


def test_whole_numbers_of_json_may_become_wider(diff):
    wide = to_topic(ID, replace(TOTAL, type="integer")), to_topic(ID, replace(TOTAL, type="long"))
    report = diff(*wide, SPARK.format("billing"), billing=READS_TOTAL)
    assert told(report) == [("OUT002", Outcome.RESUMES)]
    text = diff(wide[0], to_topic(ID, replace(TOTAL, type="string")), SPARK.format("billing"))
    assert text.outcome is Outcome.SILENTLY_WRONG


def test_code_that_no_evidence_shows_is_a_question(diff):
    streams = diff(
        to_topic(ID, TOTAL),
        to_topic(ID),
        SPARK.format("enrich"),
        enrich=reader({"all": "decoded(s0.value)"}),
    )
    assert told(streams)[0] == ("DWN002", Outcome.UNKNOWN)
    assert streams.findings[0].question == "Does the pipeline enrich need the field total?"
    assert "registered pipeline" not in streams.findings[0].why
    assert streams.findings[0].why.count("evidence") <= 1


def test_an_acceptance_holds_for_what_a_reader_loses(diff):
    accept = '[[accept]]\nrule = "DWN001"\nreason = "billing moves first"\nuntil = 2999-01-01\n'
    toml = SPARK.format("billing")
    report = diff(to_topic(ID, TOTAL), to_topic(ID), toml, accept, billing=READS_TOTAL)
    assert report.findings[0].accepted.reason == "billing moves first"
    assert not report.closes({"silently_wrong"})
    assert not [w for w in report.warnings if "DWN001" in w]


def test_a_pipeline_that_reads_the_folder(diff):
    folder = Source(position=0, format="parquet", path="/out", columns=("id", "total"), node="in")
    later = reader({"x": "s0.id"})
    later = replace(later, sources=(folder,))
    report = diff(to_folder(ID, TOTAL), to_folder(ID), SPARK.format("later"), later=later)
    assert told(report)[0] == ("DWN003", Outcome.SILENTLY_WRONG)
    assert "later reads the column total" in report.findings[0].why
    other = replace(later, sources=(replace(folder, path="/elsewhere"),))
    report = diff(to_folder(ID, TOTAL), to_folder(ID), SPARK.format("later"), later=other)
    assert report.outcome is Outcome.RESUMES


DECLARED = '[topics.orders]\nschema = "order.avsc"\n'


def test_avro_that_the_topic_does_not_hold(diff):
    old = reading(function="from_avro", declared=FIRST)
    new = reading(function="from_avro", declared=SECOND)
    assert told(diff(old, new)) == [("RDS001", Outcome.UNKNOWN)]
    report = diff(old, new, DECLARED, **{"order.avsc": FIRST})
    assert told(report) == [("RDS002", Outcome.SILENTLY_WRONG)]
    assert "n is written as string and read as double" in report.findings[0].why


def test_avro_that_the_topic_holds_by_now(diff):
    old = reading(function="from_avro", declared=FIRST)
    new = reading(function="from_avro", declared=SECOND)
    assert told(diff(old, new, DECLARED, **{"order.avsc": SECOND})) == []


def test_avro_that_is_turned_into_what_it_cannot_be(diff):
    old = reading(function="from_avro", declared=FIRST)
    new = reading(function="from_avro", declared=FIRST, evolved=SECOND)
    plain = diff(old, new)
    assert told(plain) == [("RDS001", Outcome.UNKNOWN)]
    assert "(Avro's schema resolution)" in plain.findings[0].question
    report = diff(old, new, DECLARED, **{"order.avsc": FIRST})
    assert told(report) == [("RDS002", Outcome.SILENTLY_WRONG)]
    fewer = reading(function="from_avro", declared=FIRST, evolved=avro(("id", "long")))
    assert told(diff(old, fewer, DECLARED, **{"order.avsc": FIRST})) == []


def test_avro_with_other_words_reads_the_same_bytes(diff):
    old = reading(function="from_avro", declared=FIRST)
    worded = json.dumps({**json.loads(FIRST), "doc": "what is ordered"})
    assert told(diff(old, reading(function="from_avro", declared=worded))) == []


JSON_SCHEMA = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"id": {"type": "integer"}, "total": {"type": "string"}},
    }
)


def test_json_that_has_the_field_in_another_type(diff):
    report = diff(reading(ID), reading(ID, TOTAL), DECLARED, **{"order.avsc": JSON_SCHEMA})
    assert told(report) == [("RDS002", Outcome.SILENTLY_WRONG), ("RDS005", Outcome.RESUMES)]
    assert (
        "total is string in the topic's schema, but the query parses it as double"
        in report.findings[0].why
    )


def test_json_that_may_have_the_field(diff):
    more = reading(ID, Field("note", "string"))
    report = diff(reading(ID), more, DECLARED, **{"order.avsc": JSON_SCHEMA})
    assert told(report)[0] == ("RDS003", Outcome.UNKNOWN)
    assert "note is not in the topic's schema" in report.findings[0].why


def test_written_avro_that_the_registered_schema_misreads(diff):
    toml = '[topics.out]\nschema = "order.avsc"\n'
    old, new = (to_topic(ID, writer="to_avro", declared=d) for d in (FIRST, SECOND))
    report = diff(old, new, toml, **{"order.avsc": FIRST})
    assert told(report)[0] == ("RDS004", Outcome.SILENTLY_WRONG)
    assert told(diff(new, old, toml, **{"order.avsc": FIRST})) == [("OUT007", Outcome.RESUMES)]


def test_a_pipeline_that_reads_avro_with_the_schema_of_before(diff):
    old, new = (to_topic(ID, writer="to_avro", declared=d) for d in (FIRST, SECOND))

    def later(declared):
        found = reading(function="from_avro", declared=declared)
        return replace(found, sources=(kafka(topics=("out",)),))

    report = diff(old, new, SPARK.format("later"), later=later(FIRST))
    assert told(report) == [("DWN001", Outcome.SILENTLY_WRONG), ("OUT007", Outcome.RESUMES)]
    assert "later reads the value of out with the old schema" in report.findings[0].why
    report = diff(old, new, SPARK.format("later"), later=later(SECOND))
    assert told(report) == [("OUT007", Outcome.RESUMES)]


def test_a_registry_that_does_not_answer_is_a_warning_and_the_question_stays(diff):
    toml = '[schema_registry]\nurl = "http://127.0.0.1:1"\n'
    old, new = (reading(function="from_avro", declared=d) for d in (FIRST, SECOND))
    report = diff(old, new, toml)
    assert told(report) == [("RDS001", Outcome.UNKNOWN)]
    (warning,) = [w for w in report.warnings if "registry" in w]
    assert warning.startswith("Not checked: the schema of orders (The schema registry at ")
