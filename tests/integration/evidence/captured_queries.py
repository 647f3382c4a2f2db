"""Queries to capture: of every stateful kind, and with everything that a capture must not touch."""

import os

import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import LongType

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
RATE = 3


def source(spark, name="src"):
    schema = "k string, v int, d decimal(10,2), ts timestamp"
    return (
        spark.readStream.schema(schema).json(f"/nowhere/{name}").withWatermark("ts", "10 seconds")
    )


def counted(spark):
    sums = [F.count("*"), F.sum("v"), F.avg("d"), F.max("d"), F.collect_set("v")]
    return source(spark).groupBy("k").agg(*sums).writeStream.format("noop").outputMode("update")


def keyed_by_expressions(spark):
    keys = [F.coalesce("k", F.lit("")).alias("a"), (F.col("v") + 1).alias("b")]
    return (
        source(spark)
        .groupBy(*keys)
        .agg(F.first("ts"))
        .writeStream.format("noop")
        .outputMode("complete")
    )


def windowed(spark):
    window = F.window("ts", "10 seconds", "5 seconds")
    return (
        source(spark).groupBy(window, "k").agg(F.min("v"), F.stddev("v")).writeStream.format("noop")
    )


def sessions(spark):
    gap = F.session_window("ts", "5 seconds")
    return source(spark).groupBy(gap, "k").agg(F.sum("v")).writeStream.format("noop")


def deduplicated(spark):
    return (
        source(spark)
        .dropDuplicates(["k", "d"])
        .groupBy("v")
        .count()
        .writeStream.format("noop")
        .outputMode("update")
    )


def deduplicated_within(spark):
    return source(spark).dropDuplicatesWithinWatermark(["k"]).writeStream.format("noop")


def joined(spark):
    left = source(spark).select("k", "v", "ts")
    right = source(spark, "right").select(F.col("k").alias("rk"), "d", F.col("ts").alias("rts"))
    near = F.expr("k = rk and rts between ts and ts + interval 5 seconds")
    return left.join(right, near, "leftOuter").writeStream.format("noop")


def limited(spark):
    return source(spark).limit(3).writeStream.format("noop")


def mapped(spark):
    def total(key, frames, state):
        yield pd.DataFrame({"k": [key[0]], "n": [1]})

    return (
        source(spark)
        .groupBy("k")
        .applyInPandasWithState(total, "k string, n int", "n int", "update", "EventTimeTimeout")
        .writeStream.format("noop")
        .outputMode("update")
    )


class Counter(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "n long")
        self.seen = handle.getListState("seen", "v int")
        self.by_day = handle.getMapState("by_day", "d date", "n long", 60_000)

    def handleInputRows(self, key, rows, timers):
        yield pd.DataFrame({"k": [key[0]]})

    def close(self):
        pass


def with_variables(spark):
    spark.conf.set(PROVIDER, ROCKSDB)
    return (
        source(spark)
        .groupBy("k")
        .transformWithStateInPandas(Counter(), "k string", "update", "ProcessingTime")
        .writeStream.format("noop")
        .outputMode("update")
    )


STATEFUL = (
    *(counted, keyed_by_expressions, windowed, sessions, deduplicated, deduplicated_within),
    *(joined, limited, mapped, with_variables),
)


# A pipeline as teams write them: it starts, waits and stops the session by itself.


def scaled(x):
    return x * RATE


@F.udf(LongType())
def weight(x):
    return scaled(x)


def write_batch(df, number):
    df.write.parquet("/nowhere/out")


def business(spark):
    print("planning the business")
    assert "TEST_PASSWORD" not in os.environ
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    kafka = spark.readStream.format("kafka").option("subscribe", "orders")
    kafka = kafka.option("kafka.bootstrap.servers", "127.0.0.1:1")
    kafka = kafka.option("kafka.sasl.jaas.config", 'module required password="hunter2";')
    fields = F.from_json(F.col("value").cast("string"), "k string, v int, ts timestamp")
    orders = kafka.load().select(fields.alias("j")).select("j.*")
    cities = spark.read.schema("k string, city string").csv("s3a://nowhere/cities/*.csv")
    paid = spark.readStream.format("parquet").schema("pk string, paid int")
    paid = paid.option("path", "/nowhere/payments").load()
    assert cities.count() == 0
    df = orders.join(cities, "k").join(paid, F.expr("k = pk")).withColumn("w", weight("v"))
    writer = df.writeStream.foreachBatch(write_batch).queryName("business")
    query = writer.option("checkpointLocation", "/nowhere/ck").start(trigger=None)
    spark.readStream.format("rate").load().writeStream.toTable("audit", queryName="audit")
    try:
        while True:
            spark.streams.awaitAnyTermination()
            assert not query.isActive and query.lastProgress is None
    finally:
        spark.stop()


# Each of these gets one sentence.


def infers(spark):
    return spark.readStream.json("/nowhere/src")


def infers_static(spark):
    return source(spark).join(spark.read.parquet("s3a://nowhere/dim"), "k")


def reads_table(spark):
    return source(spark).join(spark.table("prod.dim"), "k")


def reads_sql_file(spark):
    return source(spark).join(spark.sql("select k from json.`/etc`"), "k")


def reads_database(spark):
    return source(spark).join(spark.read.jdbc("jdbc:postgresql://me:pw@nowhere/db", "dim"), "k")


def writes(spark):
    spark.createDataFrame([(1,)], "a int").write.parquet("/nowhere/out")


def returns_nothing(spark):
    source(spark)


def returns_batch(spark):
    return spark.range(1)


def returns_text(spark):
    return "query"


def starts_several(spark):
    for name in ("a", "b"):
        source(spark).writeStream.format("noop").queryName(name).start()


def breaks(spark):
    return source(spark).select("nope")


def reads_password(spark):
    return os.environ["TEST_PASSWORD"]


def leaves(spark):
    raise SystemExit(3)


WRONG = {
    infers: "the json source /nowhere/src infers its schema, but Headgate doesn't read",
    infers_static: "the parquet source s3a://nowhere/dim infers its schema",
    reads_table: "cannot be found",
    reads_sql_file: "cannot be found",
    reads_database: "the jdbc source",
    writes: "the function writes a batch (parquet), but Headgate calls the function only",
    returns_nothing: "returned nothing and started no query",
    returns_batch: "returned a batch DataFrame",
    returns_text: "returned str",
    starts_several: "starts several queries (a, b): choose one with --query, or with `query` in",
    breaks: "UNRESOLVED_COLUMN",
    reads_password: "KeyError: 'TEST_PASSWORD'; a capture runs without credentials",
    leaves: "called exit(3)",
}


def refused(spark):
    return source(spark).groupBy("v").count().writeStream.outputMode("append")


def unplanned(spark):
    """Spark refuses to plan it, without a condition: a session window needs another key."""
    return (
        source(spark)
        .groupBy(F.session_window("ts", "5 seconds"))
        .count()
        .writeStream.format("noop")
    )
