"""One vocabulary of sinks: whatever evidence calls a sink, its format is one word."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.model.sinks import SINK_FORMATS, BatchIds, described_sink, known_sink, sink_format
from headgate.model.version import Engine, Sink, Version
from headgate.parse.evidence.version_file import dump, load
from headgate.usecases.evidence.read_version import read_version

GOLDEN = Path(__file__).parents[2] / "golden"
# What Spark and Delta themselves printed, by the format that the query's writer was given.
RECORDED = [
    ("sinks/delta_path", "delta", "/data/out/delta"),
    ("sinks/delta_table", "delta", "file:/data/warehouse/tdelta"),
    ("spark/4.2.0/sink_console/run", "console", None),
    ("spark/4.2.0/sink_file_partitioned/run", "file", "file:/data/sink_file_partitioned/out"),
    ("spark/4.2.0/sink_foreach/run", "foreach", None),
    ("spark/4.2.0/sink_foreach_batch/run", "foreachBatch", None),
    ("spark/4.2.0/sink_memory/run", "memory", None),
    ("spark/4.2.0/sink_noop/run", "noop", None),
    ("spark/4.2.0/sink_table/run", "file", "file:/data/warehouse/totals"),
]


@pytest.mark.parametrize("names", [("explain.txt",), ("progress.json",), None], ids=str)
@pytest.mark.parametrize(("folder", "form", "target"), RECORDED, ids=lambda v: str(v))
def test_plan_and_progress_call_a_sink_by_its_format(folder, form, target, names):
    assert (GOLDEN / folder).is_dir(), (
        f"record explain.txt and progress.json of a query with this sink in tests/golden/{folder}"
    )
    wanted = names or ("explain.txt", "progress.json")
    sink = read_version([str(GOLDEN / folder / name) for name in wanted]).sink
    assert (sink.format, sink.target) == (form, target)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DeltaSink[s3a://b/t]", ("delta", "s3a://b/t")),
        ("HoodieStreamingSink[/t]", ("hudi", "/t")),
        ("FileSink[file:/out]", ("file", "file:/out")),
        (
            "ForeachWriterTable(org.example.Writer@13ae0037,Right(a.B$$Lambda$1@6f))",
            ("foreach", None),
        ),
        ("org.apache.spark.sql.execution.streaming.ConsoleTable$@3a9b8c7e", ("console", None)),
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@1f", ("kafka", None)),
        ("org.example.OurSink@12", ("OurSink", None)),
        ("MongoTable{schema=StructType(), partitioning=[], columns=[]}", ("MongoTable", None)),
        ("FileSink[file:/o/{x}/y]", ("file", "file:/o/{x}/y")),
        ("ForeachWriterTable(org.example.Writer[a])", ("foreach", None)),
    ],
)
def test_a_description_is_format_and_target(text, found):
    assert described_sink(text) == found


@pytest.mark.parametrize("name", ["DELTA", "DeltaSink", "deltasink", "a.b.DeltaDataSource"])
def test_a_sink_has_one_word_whatever_it_was_made_with(name):
    assert Sink(format=name).format == "delta"
    assert Sink(format=name).traits.batch_ids is BatchIds.DROPS_OF_QUERY


def test_whether_it_is_spark_s_file_sink_does_not_depend_on_case():
    assert Sink(format="Parquet").is_files
    assert Sink(format="FileSink").is_files
    assert not Sink(format="Delta").is_files
    assert not Sink().is_files


def test_a_version_that_was_stored_with_another_name_is_read_with_the_one_word():
    version = Version(engine=Engine.SPARK, sink=Sink(format="delta", target="/t"))
    old = dump(version).replace(b'"delta"', b'"DeltaSink"')
    assert load(old, source="v").sink == version.sink


def test_a_format_without_a_row_promises_nothing():
    assert known_sink("jdbc-ours") is None
    assert sink_format("jdbc-ours").batch_ids is BatchIds.UNKNOWN
    assert Sink(format="jdbc-ours").format == "jdbc-ours"


def test_no_name_belongs_to_two_formats():
    names = [n.lower() for s in SINK_FORMATS for n in (s.format, *s.names)]
    assert len(names) == len(set(names))
