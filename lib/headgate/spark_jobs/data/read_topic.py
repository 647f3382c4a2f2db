"""Read a range of a topic: its committed records, up to the offsets of this moment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headgate.errors import OutputError, UnreachableError
from headgate.spark_jobs.data.output_address import EARLIEST, LATEST, TopicOutput
from headgate.text.numbers import plural

_PATIENCE_MS = "20000"
_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
_CORRUPT = "_headgate_corrupt"
_MOST_OF_INT = (1 << 31) - 1
KEY, VALUE = "key", "value"


@dataclass(frozen=True, slots=True)
class TopicRange:
    """The offsets to read of each partition, from `starts` to before `ends`."""

    starts: Mapping[int, int]
    ends: Mapping[int, int]
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no partition has an offset in the range."""
        return all(self.starts[p] >= end for p, end in self.ends.items())


@dataclass(frozen=True, slots=True)
class TopicRows:
    """The rows of a range; None if it has no records."""

    rows: Any
    notes: tuple[str, ...]


def read_topic(
    spark: Any,
    address: TopicOutput,
    settings: Mapping[str, str],
    *,
    keys: Sequence[str] = (),
    newest: bool = False,
) -> TopicRows:
    """Return the rows of a range.

    If every value is a JSON object, its fields are the columns, and the record's key is the column
    `key` if `keys` names it and no field does. Otherwise the columns are `key` and `value`, both
    binary. A record without a value is a row of nulls. With `newest`, only the newest record of
    each of `keys` counts, and none that a later record without a value deleted.
    """
    from pyspark.sql import functions as F

    found = resolve_range(spark, address, settings)
    if found.is_empty:
        return TopicRows(None, (*found.notes, f"Topic {address.topic} has no records in range."))
    records = read_records(spark, address.topic, found, settings)
    # Read once: the schema, the guard against duplicates and the comparison each need all of it.
    records = records.persist()
    if newest:
        records = _without_deleted(records)
    text = F.col(VALUE).cast("string")
    schema = _json_schema(spark, records.where(F.col(VALUE).isNotNull()).select(text))
    notes = list(found.notes)
    if schema is None:
        notes.append(f"Not all values of topic {address.topic} are JSON objects, so whole "
                     "values are compared.")  # fmt: skip
        rows = records
        columns = [F.col(KEY), F.col(VALUE)]
    else:
        rows = records.withColumn("_json", F.from_json(text, schema))
        columns = [F.col("_json")[name].alias(name) for name in schema.fieldNames()]
        if KEY in keys and KEY not in schema.fieldNames():
            columns.append(F.col(KEY).cast("string").alias(KEY))
    if not newest:
        return TopicRows(rows.select(*columns), tuple(notes))
    kept = rows.select(F.struct(*columns).alias("_row"), "partition", "offset", "timestamp")
    return TopicRows(_newest(kept, keys), tuple(notes))


def read_records(spark: Any, topic: str, found: TopicRange, settings: Mapping[str, str]) -> Any:
    """Return the committed records of a range, with Spark's columns of a Kafka source."""
    own = {"kafka.isolation.level": "read_committed", "subscribe": topic}
    reader = spark.read.format("kafka").options(**{f"kafka.{k}": v for k, v in settings.items()})
    reader = reader.options(**own)
    starts = {p: min(start, found.ends[p]) for p, start in found.starts.items()}
    reader = reader.option("startingOffsets", _offsets(topic, starts))
    return reader.option("endingOffsets", _offsets(topic, found.ends)).load()


def _offsets(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})


def resolve_range(spark: Any, address: TopicOutput, settings: Mapping[str, str]) -> TopicRange:
    """Ask Kafka for the offsets of a range; `latest` is the last stable offset of this moment."""
    if not settings.get("bootstrap.servers"):
        raise OutputError(
            f"kafka:{address.topic} needs a cluster: set `bootstrap_servers` under [kafka] in "
            "headgate.toml"
        )
    try:
        return _resolved(spark, address, settings)
    except (OutputError, UnreachableError):
        raise
    except Exception as error:
        if isinstance(error, TypeError):
            raise OutputError(
                "Spark's Kafka jars are not installed. Run `headgate doctor` to see how to install "
                "the jars, or pass the jars to Spark"
            ) from error
        raise _kafka_error(address.topic, error) from error


def _resolved(spark: Any, address: TopicOutput, settings: Mapping[str, str]) -> TopicRange:
    consumer = _consumer(spark, settings, "read_committed")
    try:
        infos = consumer.partitionsFor(address.topic)
        if infos is None or infos.isEmpty():
            raise OutputError(f"topic {address.topic} not found. Check its name")
        known = spark._jvm.org.apache.kafka.common.TopicPartition
        parts = spark._jvm.java.util.ArrayList()
        for info in infos:
            parts.add(known(address.topic, info.partition()))
        first = _by_partition(consumer.beginningOffsets(parts))
        stable = _by_partition(consumer.endOffsets(parts))
        starts = _offsets_at(spark, consumer, parts, address.start, first, stable)
        ends = _offsets_at(spark, consumer, parts, address.end, first, stable)
        notes = _expired(address, first) + _open(spark, address, settings, parts, stable)
        return TopicRange(starts, ends, notes)
    finally:
        consumer.close()


def _consumer(spark: Any, settings: Mapping[str, str], isolation: str) -> Any:
    config = spark._jvm.java.util.HashMap()
    own = {
        "key.deserializer": _BYTES,
        "value.deserializer": _BYTES,
        "isolation.level": isolation,
        "allow.auto.create.topics": "false",
        "default.api.timeout.ms": _PATIENCE_MS,
        "request.timeout.ms": _PATIENCE_MS,
    }
    for key, value in (dict(settings) | own).items():
        config.put(key, value)
    return spark._jvm.org.apache.kafka.clients.consumer.KafkaConsumer(config)


def _by_partition(offsets: Any) -> dict[int, int]:
    return {int(e.getKey().partition()): int(e.getValue()) for e in offsets.entrySet()}


def _offsets_at(
    spark: Any,
    consumer: Any,
    parts: Any,
    wanted: int | Mapping[int, int] | datetime | str,
    first: Mapping[int, int],
    stable: Mapping[int, int],
) -> dict[int, int]:
    """Return a position's offset in each partition, within what the topic has."""
    if wanted == EARLIEST:
        return dict(first)
    if wanted == LATEST:
        return dict(stable)
    if isinstance(wanted, datetime):
        at = _at_time(spark, consumer, parts, wanted, stable)
    elif isinstance(wanted, Mapping):
        at = {p: wanted.get(p, first[p]) for p in first}
    else:
        at = dict.fromkeys(first, int(wanted))
    return {p: min(max(offset, first[p]), stable[p]) for p, offset in at.items()}


def _at_time(
    spark: Any, consumer: Any, parts: Any, time: datetime, stable: Mapping[int, int]
) -> dict[int, int]:
    asked = spark._jvm.java.util.HashMap()
    moment = int(time.timestamp() * 1000)
    if moment <= _MOST_OF_INT:  # py4j would pass it as an Integer, which Kafka doesn't take
        raise OutputError(f"{time.isoformat()} is too early for a topic: use {EARLIEST}")
    for part in parts:
        asked.put(part, moment)
    found = consumer.offsetsForTimes(asked)
    at = {int(e.getKey().partition()): e.getValue() for e in found.entrySet()}
    return {p: stable[p] if hit is None else int(hit.offset()) for p, hit in at.items()}


def _expired(address: TopicOutput, first: Mapping[int, int]) -> tuple[str, ...]:
    gone = [p for p, offset in first.items() if offset > address.start] if (
        isinstance(address.start, int)
    ) else []  # fmt: skip
    if not gone:
        return ()
    listed = ", ".join(map(str, sorted(gone)))
    parts = f"partition{'s' if len(gone) > 1 else ''} {listed}"
    return (f"Topic {address.topic} no longer has offset {address.start} in {parts}. The "
            "comparison starts at the earliest offset.",)  # fmt: skip


def _open(
    spark: Any,
    address: TopicOutput,
    settings: Mapping[str, str],
    parts: Any,
    stable: Mapping[int, int],
) -> tuple[str, ...]:
    """Report what an open transaction hides, if the range goes to the end."""
    if address.end != LATEST:
        return ()
    consumer = _consumer(spark, settings, "read_uncommitted")
    try:
        last = _by_partition(consumer.endOffsets(parts))
    finally:
        consumer.close()
    hidden = sum(last[p] - offset for p, offset in stable.items())
    if hidden <= 0:
        return ()
    return (f"Topic {address.topic} has an open transaction, so Headgate doesn't compare its "
            f"last {plural(hidden, 'offset')}.",)  # fmt: skip


def _kafka_error(topic: str, error: Exception) -> OutputError | UnreachableError:
    thrown = getattr(error, "java_exception", None)
    name = str(thrown.getClass().getSimpleName()) if thrown is not None else type(error).__name__
    cause = thrown.getCause() if thrown is not None else None
    said = str((cause or thrown).getMessage()) if thrown is not None else str(error)
    reason = " ".join(said.partition("\n")[0].split()).rstrip(".")
    if name == "InvalidTopicException":
        return OutputError(f"topic {topic} not found. Check its name")
    if "Authorization" in name:
        return OutputError(f"topic {topic} can't be read: {reason}")
    return UnreachableError(f"the offsets of topic {topic} can't be read from Kafka: {reason}")


def _json_schema(spark: Any, values: Any) -> Any:
    """Return the schema of texts that are all JSON objects, else None."""
    from pyspark.sql import functions as F

    column = values.columns[0]
    other = values.where(~F.col(column).rlike(r"^\s*\{")).limit(1).count()
    if other:
        return None
    found = spark.read.option("columnNameOfCorruptRecord", _CORRUPT).json(values).schema
    return None if _CORRUPT in found.fieldNames() or not found.fieldNames() else found


def _without_deleted(records: Any) -> Any:
    """Drop records that a later one with their key and no value deletes, and those as well."""
    from pyspark.sql import functions as F

    deleted = (
        records.where(F.col(VALUE).isNull() & F.col(KEY).isNotNull())
        .groupBy(F.col(KEY).alias("_key"), F.col("partition").alias("_partition"))
        .agg(F.max("offset").alias("_deleted"))
    )
    same = (F.col(KEY) == F.col("_key")) & (F.col("partition") == F.col("_partition"))
    later = F.col("_deleted").isNull() | (F.col("offset") > F.col("_deleted"))
    return records.join(deleted, same, "left").where(later & F.col(VALUE).isNotNull())


def _newest(rows: Any, keys: Sequence[str]) -> Any:
    """Keep the newest row of each key: by offset in a partition, by time between partitions."""
    from pyspark.sql import functions as F

    missing = [key for key in keys if key not in rows.schema["_row"].dataType.fieldNames()]
    if missing:
        return rows.select("_row.*")  # whoever compares says which columns there are
    by = [F.col("_row")[key].alias(f"_key{i}") for i, key in enumerate(keys)]
    names = [f"_key{i}" for i in range(len(keys))]
    value = F.struct("_row", "timestamp", "offset").alias("_value")
    each = rows.select(*by, "partition", value).groupBy(*names, "partition")
    last = each.agg(F.max_by("_value", F.col("_value.offset")).alias("_value"))
    order = F.struct(F.col("_value.timestamp"), F.col("_value.offset"))
    return (
        last.groupBy(*names).agg(F.max_by("_value", order).alias("_value")).select("_value._row.*")
    )
