import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "receipt string, line int, machine string, kind string, pieces int, fed timestamp"
EMPTY_AFTER = "12 minutes"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def pieces():
    each = F.when(F.col("kind") == "crate", 24).otherwise(1)
    return F.coalesce("pieces", F.lit(1)) * each


def build(spark):
    fed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/fed_machines").withWatermark("fed", "10 minutes")
    once = fed.dropDuplicates(["receipt", "line", "fed"])
    rushes = once.groupBy(F.session_window("fed", EMPTY_AFTER), "machine").agg(
        F.sum(pieces()).alias("pieces"), F.count("*").alias("lines"), F.max("kind").alias("kind")
    )
    return (
        rushes.select("session_window.start", "session_window.end", "machine", "pieces", "lines", "kind")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
