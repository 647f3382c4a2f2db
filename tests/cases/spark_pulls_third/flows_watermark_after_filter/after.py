import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "src string, dst string, port int, proto string, bytes long, at timestamp"


def flows(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/flows")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    tcp = flows(spark).where(F.lower("proto") == "tcp").withWatermark("at", "10 minutes")
    windows = (
        tcp.groupBy(F.window("at", "10 minutes"), "src")
        .agg(F.count("*").alias("flows"), F.sum("bytes").alias("bytes"))
        .select("window.start", "src", "flows", "bytes")
    )
    return windows.writeStream.outputMode("append").foreachBatch(publish)
