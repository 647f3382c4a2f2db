import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "order_no string, tbl int, dish string, cents long, note string, at timestamp"


def ordered(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/ordered")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    visits = (
        ordered(spark)
        .withWatermark("at", "10 minutes")
        .groupBy(F.session_window("at", "20 minutes"), "tbl")
        .agg(F.sum("cents").alias("cents"), F.count("dish").alias("dishes"))
        .select("session_window.start", "session_window.end", "tbl", "cents", "dishes")
    )
    return visits.writeStream.outputMode("append").foreachBatch(publish)
