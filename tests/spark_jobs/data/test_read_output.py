"""Reading outputs: files of each format, the committed records of a topic, bad addresses."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest

from headgate.errors import OutputError
from headgate.spark_jobs.data.output_address import (
    FileOutput,
    TableOutput,
    TopicOutput,
    parse_address,
)

pytestmark = [pytest.mark.spark, pytest.mark.kafka]
# 2026-11-19T12:26:40Z in milliseconds.
MOMENT = 1_795_091_200_000


@pytest.fixture
def read(spark, broker):
    """Read an address; the rows as sorted tuples of text, the columns, and the notes."""
    from headgate.spark_jobs.data.read_output import Connections, read_output

    def found(text, keys=("id",), newest=False):
        known = Connections({"bootstrap.servers": broker})
        output = read_output(spark, parse_address(text), known, keys=keys, newest=newest)
        if output.rows is None:
            return [], [], output.notes
        rows = sorted(tuple(map(str, row)) for row in output.rows.collect())
        return rows, output.rows.columns, output.notes

    return found


@pytest.mark.parametrize("format", ["parquet", "orc", "json"])
def test_a_folder_of_files_is_recognised(spark, read, tmp_path, format):
    path = str(tmp_path / "out")
    spark.sql("SELECT 1 AS id, 'x' AS name UNION ALL SELECT 2, 'y'").write.format(format).save(path)
    assert read(path)[:2] == ([("1", "x"), ("2", "y")], ["id", "name"])


def test_csv_has_a_header_unless_the_keys_are_spark_s_own_names(read, tmp_path):
    (tmp_path / "a.csv").write_text("id,name\n1,x\n2,y\n")
    assert read(f"{tmp_path}/a.csv")[:2] == ([("1", "x"), ("2", "y")], ["id", "name"])
    (tmp_path / "b.tsv").write_text("1\tx\n2\ty\n")
    assert read(f"{tmp_path}/b.tsv", keys=("_c0",))[:2] == (
        [("1", "x"), ("2", "y")],
        ["_c0", "_c1"],
    )
    with gzip.open(tmp_path / "c.txt.gz", "wt") as file:
        file.write("one\ntwo\n")
    assert read(f"{tmp_path}/c.txt.gz")[:2] == ([("one",), ("two",)], ["value"])


def test_codes_keep_their_zeros(spark, read, tmp_path):
    (tmp_path / "a.csv").write_text("id,zip,n\n1,02134,5\n2,94103,-7\n")
    assert read(f"{tmp_path}/a.csv")[0] == [("1", "02134", "5"), ("2", "94103", "-7")]
    path = str(tmp_path / "out")
    spark.sql("SELECT 1 AS id, '007' AS code, 3 AS day").write.partitionBy("code", "day").parquet(
        path
    )
    assert read(path)[:2] == ([("1", "007", "3")], ["id", "code", "day"])


def test_a_path_is_no_pattern(spark, read, tmp_path):
    for name in ("[a,b] {x}", "b?", "bc"):
        path = tmp_path / name
        spark.sql(f"SELECT '{name}' AS id").write.parquet(str(path))
    assert read(f"{tmp_path}/[a,b] {{x}}")[0] == [("[a,b] {x}",)]
    assert read(f"{tmp_path}/b?")[0] == [("b?",)]


def test_only_committed_files_of_the_file_sink_are_read(spark, read, tmp_path):
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "1.json").write_text('{"id": 1}\n{"id": 2}\n')
    stream = spark.readStream.schema("id int").json(str(source))
    writing = stream.writeStream.format("parquet").option("checkpointLocation", f"{tmp_path}/c")
    query = writing.trigger(availableNow=True).start(str(out))
    assert query.awaitTermination(120)
    # What a killed task leaves: a complete file that no batch committed.
    spark.sql("SELECT 99 AS id").coalesce(1).write.parquet(str(tmp_path / "more"))
    (left,) = (tmp_path / "more").glob("part-*.parquet")
    left.rename(out / "part-00099-left.parquet")
    assert read(str(out))[0] == [("1",), ("2",)]


def test_what_can_not_be_read_is_one_sentence(read, tmp_path):
    (tmp_path / "strange.bin").write_bytes(b"\x01\x02\x03\x04")
    (tmp_path / "broken.json").write_text('{"id": 1}\nnot json\n')
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "empty").mkdir()
    for name, said in {
        "none": "not found", "strange.bin": "isn't known",
        "broken.json": "one JSON object per line",
        "cut.parquet": "can't be read",
    }.items():  # fmt: skip
        with pytest.raises(OutputError, match=said) as caught:
            read(str(tmp_path / name))
        assert "\n" not in str(caught.value)
    assert read(str(tmp_path / "empty"))[2] == (
        f"{tmp_path}/empty has no data files, so it counts as empty.",
    )


@pytest.fixture(scope="module")
def written(broker, topic):
    """A topic with committed, aborted and open transactions, tombstones and updates."""
    from confluent_kafka import Producer

    # The records keep their time, which Kafka would take for old.
    name = topic("outputs", partitions=2, config={"retention.ms": "-1"})

    def producer(id):
        settings = {"bootstrap.servers": broker, "transactional.id": f"{name}-{id}"}
        # The open one must not time out before the last test.
        made = Producer(settings | {"transaction.timeout.ms": 900_000})
        made.init_transactions(30)
        made.begin_transaction()
        return made

    def send(made, partition, at, key, value):
        text = None if value is None else json.dumps(value)
        made.produce(name, key=key, value=text, partition=partition, timestamp=MOMENT + at)

    one = producer("one")
    send(one, 0, 1000, "a", {"id": 1, "n": 1})
    send(one, 0, 2000, "b", {"id": 2, "n": 1})
    send(one, 1, 2500, "c", {"id": 3, "n": 1.5})
    one.commit_transaction(30)
    two = producer("two")
    send(two, 0, 3000, "a", {"id": 1, "n": 99})
    two.flush(30)
    two.abort_transaction(30)
    three = producer("three")
    send(three, 0, 4000, "a", {"id": 1, "n": 2})
    send(three, 1, 4000, "c", None)
    send(three, 1, 5000, "d", {"id": 4, "n": None})
    three.commit_transaction(30)
    four = producer("four")
    send(four, 1, 6000, "e", {"id": 5, "n": 5})
    four.flush(30)
    yield name
    for made in (one, two, three, four):
        made.close()


def test_only_committed_records_of_a_topic_are_read(read, written):
    rows, columns, notes = read(f"kafka:{written}")
    assert columns == ["id", "n"]
    # The aborted record of 99 and the open one of 5 are not there; a tombstone is a row of nulls.
    assert rows == [("1", "1.0"), ("1", "2.0"), ("2", "1.0"), ("3", "1.5"), ("4", "None"),
                    ("None", "None")]  # fmt: skip
    assert [n for n in notes if "open transaction" in n], notes


def test_the_newest_record_of_a_key_counts(read, written):
    # 3 was deleted by its tombstone, 1 was written twice.
    assert read(f"kafka:{written}", newest=True)[0] == [("1", "2"), ("2", "1"), ("4", "None")]


def test_the_records_key_is_a_column_if_it_is_a_key(read, written):
    rows, columns, _ = read(f"kafka:{written}", keys=("key",), newest=True)
    assert columns == ["id", "n", "key"]
    assert [row[2] for row in rows] == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("range", "ids"),
    [
        ("0..1", ["1", "3"]),
        ("1..2", ["2"]),
        ("2026-11-19T12:26:42Z..2026-11-19T12:26:44", ["2", "3"]),
        ("earliest..latest", ["1", "1", "2", "3", "4", "None"]),
        ("latest..latest", []),
        ("100..", []),
    ],
)
def test_a_range_of_offsets_or_times(read, written, range, ids):
    rows, _, notes = read(f"kafka:{written}@{range}")
    assert [row[0] for row in rows] == ids
    if not ids:
        assert any("no records in range" in note for note in notes)


def test_values_that_are_not_json_are_compared_whole(read, topic, produce):
    name = topic("texts")
    produce(name, [("a", '{"id": 1}'), ("b", "plain")])
    rows, columns, notes = read(f"kafka:{name}", keys=("key",))
    assert columns == ["key", "value"]
    assert len(rows) == 2 and "JSON" in notes[0]


def test_a_topic_that_is_not_there(read):
    with pytest.raises(OutputError, match="topic never-made not found"):
        read("kafka:never-made")


def test_addresses():
    assert parse_address("out/day=1") == FileOutput("out/day=1")
    assert parse_address("kafka:t") == TopicOutput("t", "earliest", "latest")
    assert parse_address("kafka:t@0..") == TopicOutput("t", 0, "latest")
    assert parse_address("kafka:t@0:3,12:0..0:7") == TopicOutput("t", {0: 3, 12: 0}, {0: 7})
    moment = datetime(2026, 11, 25, 12, tzinfo=UTC)
    assert parse_address("kafka:t@..2026-11-25T12:00:00") == TopicOutput("t", "earliest", moment)
    assert parse_address("jdbc:shop.public.orders") == TableOutput("shop", "public.orders")
    for bad in ("", "kafka:", "kafka:a b", "kafka:t@5", "kafka:t@x..", "jdbc:shop", "jdbc:.t",
                "jdbc:shop.(select 1)", "jdbc:shop.t; drop table t"):  # fmt: skip
        with pytest.raises(OutputError):
            parse_address(bad)
