"""Options of file sources, topics by assignment, and sources that make rows themselves."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from recorder.case import FIRST, SCHEMA, THEN, Place, case
from recorder.shapes import by, grouped

from definitions.kafka import read, topics
from definitions.sources import NAMED, named, sums

SUM = by("k", "sum(v) s", "count(*) n")


def files(name: str, change: str, old: dict[str, Any], new: dict[str, Any], **facts: Any) -> None:
    """Options of the source change."""
    sides = [(lambda p, given=given: sums(p.read(**given))) for given in (old, new)]
    case(name, change, *sides, **facts)


files("file_max_age", "maxFileAge 7d -> 1s", {}, {"maxFileAge": "1s"})
files("file_glob_added", "pathGlobFilter *.json added", {}, {"pathGlobFilter": "*.json"})
files("file_recursive", "recursiveFileLookup added", {}, {"recursiveFileLookup": "true"})
files("file_names_only", "fileNameOnly added, one folder", {}, {"fileNameOnly": "true"})
files(
    "file_names_only_two_folders",
    "fileNameOnly added, equal names in two folders",
    {"name": "s*"},
    {"name": "s*", "fileNameOnly": "true"},
    files_tell=False,
    then={"s2": THEN["src"]},
)
files(
    "file_archive_nowhere", "cleanSource archive without a folder", {}, {"cleanSource": "archive"}
)
files("file_path_with_slash", "src -> src/", {"name": "src"}, {"name": "src/"})
files(
    "file_key_not_null_declared",
    "k string -> k string NOT NULL",
    {},
    {"schema": SCHEMA.replace("k string", "k string NOT NULL")},
)
files(
    "file_key_not_null_forced_no_more",
    "NOT NULL kept -> made nullable",
    {"schema": SCHEMA.replace("k string", "k string NOT NULL")},
    {},
    settings={"spark.sql.streaming.fileSource.schema.forceNullable": "false"},
)
files(
    "file_value_narrower",
    "v int -> v smallint under sum",
    {},
    {"schema": SCHEMA.replace("v int", "v smallint")},
)
files("file_value_renamed", "v int -> w int, read as v", {}, {"schema": SCHEMA + ", w int"})
files(
    "file_column_of_text",
    "v int -> v string under sum",
    {},
    {"schema": SCHEMA.replace("v int", "v string")},
)
files("file_column_case", "k, v -> K, V", {}, {"schema": "K string, V int, d string, ts timestamp"})
files(
    "file_columns_by_other_name",
    "d -> e, unused",
    {},
    {"schema": SCHEMA.replace("d string", "e string")},
)


def by_bytes(p: Place) -> DataFrame:
    reader = p.spark.readStream.format("json").schema(SCHEMA)
    return sums(reader.option("maxBytesPerTrigger", "10m").load(str(p.folder / "src")))


case("file_more_bytes_a_batch", "maxFilesPerTrigger 1 -> maxBytesPerTrigger", SUM, by_bytes)
case(
    "file_archive_in_source",
    "cleanSource archive into the source's folder",
    SUM,
    lambda p: sums(p.read(cleanSource="archive", sourceArchiveDir=str(p.folder / "src"))),
)


def text(p: Place, **options: Any) -> DataFrame:
    reader = p.spark.readStream.format("text").option("maxFilesPerTrigger", 1)
    if name := options.get("named"):
        reader = reader.name(name)
    rows = reader.load(str(p.folder / "src"))
    return rows.selectExpr(f"from_json(value, '{SCHEMA}') AS r").select("r.*")


case("file_json_to_text", "json -> text and from_json", SUM, lambda p: sums(text(p)))
case(
    "evo_named_other_format",
    "a: json -> a: text (log v2)",
    named(("src", "a")),
    lambda p: sums(text(p, named="a")),
    settings=NAMED,
)
case(
    "file_name_as_key",
    "groupBy(k) -> groupBy(_metadata.file_name)",
    SUM,
    by("_metadata.file_name k", "sum(v) s", "count(*) n"),
)
case(
    "file_rows_by_file_size",
    "sum(v) -> sum(_metadata.file_size)",
    by("k", "sum(v) s"),
    by("k", "sum(_metadata.file_size) s"),
)


def topic(name: str, number: str, change: str, old: Any, new: Any, **facts: Any) -> None:
    """Two topics NUMBER-one, NUMBER-two; `{n}` in options is the number."""
    sides = [
        read(**{k: v.replace("{n}", number) if isinstance(v, str) else v for k, v in side.items()})
        for side in (old, new)
    ]
    case(name, change, *sides, **{**topics(number), **facts})


ONE, TWO = {"subscribe": "{n}-one"}, {"subscribe": "{n}-one,{n}-two"}
EACH = {"assign": '{"{n}-one":[0],"{n}-two":[0]}'}
ALONE = {"assign": '{"{n}-one":[0]}'}
topic("kafka_assign_fewer", "g1", "assign one:0, two:0 -> one:0", EACH, ALONE)
topic(
    "kafka_assign_fewer_leniently",
    "g2",
    "assign one:0, two:0 -> one:0, failOnDataLoss false",
    EACH,
    {**ALONE, "failOnDataLoss": "false"},
)
topic("kafka_assign_more", "g3", "assign one:0 -> one:0, two:0", ALONE, EACH)
topic("kafka_subscribe_to_assign_of_two", "g4", "subscribe one, two -> assign both", TWO, EACH)
topic(
    "kafka_pattern_wider",
    "g5",
    "pattern g5-one -> g5-.*, latest",
    {"subscribePattern": "g5-one"},
    {"subscribePattern": "g5-.*", "startingOffsets": "latest"},
)
topic("kafka_group_prefix", "g6", "groupIdPrefix added", ONE, {**ONE, "groupIdPrefix": "mine"})
topic("kafka_group_id", "g7", "kafka.group.id added", ONE, {**ONE, "kafka.group.id": "mine"})
topic(
    "kafka_starting_timestamp",
    "g8",
    "earliest -> startingTimestamp",
    ONE,
    {**ONE, "startingTimestamp": "1"},
)
topic(
    "kafka_least_offsets",
    "g9",
    "minOffsetsPerTrigger, maxTriggerDelay added",
    ONE,
    {**ONE, "minOffsetsPerTrigger": "1000", "maxTriggerDelay": "1s"},
)
topic(
    "kafka_read_committed",
    "g10",
    "isolation level read_committed",
    ONE,
    {**ONE, "kafka.isolation.level": "read_committed"},
)
topic(
    "kafka_list_turned",
    "g11",
    "subscribe one,two -> two,one",
    TWO,
    {"subscribe": "{n}-two,{n}-one"},
)


def of_offset(name: str) -> Any:
    def build(p: Place) -> DataFrame:
        reader = p.spark.readStream.format("kafka").option("kafka.bootstrap.servers", p.broker)
        rows = reader.option("startingOffsets", "earliest").option("subscribe", "g12-one").load()
        return grouped(rows.selectExpr(f"cast({name} % 2 as int) AS k"), "k", "count(*) n")

    return build


case(
    "kafka_key_of_other_metadata",
    "groupBy(offset % 2) -> groupBy(partition % 2)",
    of_offset("offset"),
    of_offset("partition"),
    **topics("g12"),
)


def made(**options: Any) -> Any:
    def build(p: Place) -> DataFrame:
        given = {"rowsPerBatch": 4, "startTimestamp": 1_767_225_600_000, **options}
        rows = p.spark.readStream.format("rate-micro-batch").options(**given).load()
        return grouped(
            rows.selectExpr("cast(value % 3 as string) AS k", "value AS v"), "k", "sum(v) s"
        )

    return build


NONE: Any = {"first": {"none": FIRST["src"][:1]}, "then": {"none": THEN["src"][:1]}}
case("rate_batch_more_rows", "rowsPerBatch 4 -> 6", made(), made(rowsPerBatch=6), **NONE)
case(
    "rate_batch_partitions",
    "numPartitions 1 -> 3",
    made(numPartitions=1),
    made(numPartitions=3),
    **NONE,
)
case(
    "rate_batch_later_start",
    "startTimestamp: a day later",
    made(),
    made(startTimestamp=1_767_312_000_000),
    **NONE,
)
