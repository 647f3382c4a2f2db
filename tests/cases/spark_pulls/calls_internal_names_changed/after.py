import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "caller string, callee string, cell string, seconds int, roaming boolean, ts timestamp"


def calls(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    per_caller = calls(spark).groupBy("caller").agg(F.sum("seconds").alias("talk_seconds"), F.count("callee").alias("placed"))
    out = per_caller.select("caller", (F.col("talk_seconds") / F.col("placed")).alias("mean_seconds"), F.col("placed").alias("calls"))
    return out.writeStream.outputMode("update").foreachBatch(publish)
