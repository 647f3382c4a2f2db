import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

ORDERED = "order_no string, tbl int, dish string, cents long, note string, at timestamp"
SERVED = "order_no string, dish string, served timestamp"


def ordered(spark):
    return spark.readStream.schema(ORDERED).json(f"{LAKE}/ordered")


def served(spark):
    return spark.readStream.schema(SERVED).json(f"{LAKE}/served")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    asked = ordered(spark).withWatermark("at", "10 minutes").alias("asked")
    brought = served(spark).withWatermark("served", "10 minutes").alias("brought")
    same = F.expr("""
        asked.order_no = brought.order_no and asked.dish = brought.dish
        and served between at and at + interval 30 minutes
    """)
    waits = asked.join(brought, same).select(
        "asked.dish", "served", (F.unix_timestamp("served") - F.unix_timestamp("at")).alias("wait")
    )
    windows = (
        waits.groupBy(F.window("served", "10 minutes"), "dish")
        .agg(F.count("*").alias("served"), F.avg("wait").alias("wait"))
        .select("window.start", "dish", "served", "wait")
    )
    return windows.writeStream.outputMode("append").foreachBatch(publish)
