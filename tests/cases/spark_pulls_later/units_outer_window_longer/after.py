import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "serial string, line string, step string, ok boolean, defects array<string>, ts timestamp"


def units(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/units")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    tens = (
        units(spark)
        .withWatermark("ts", "5 minutes")
        .groupBy(F.window("ts", "10 minutes"), "line")
        .agg(F.count("*").alias("units"))
    )
    hours = tens.groupBy(F.window("window", "2 hours"), "line").agg(F.max("units").alias("busiest"))
    return hours.writeStream.outputMode("append").foreachBatch(publish)
