import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "player string, match string, region string, level int, score long, event string, ts timestamp"


def events(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/events")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    strong = events(spark).where((F.col("score") > F.lit(20).cast("bigint")) & (F.col("level") >= F.lit(2)) & (F.col("event") != "death"))
    top = strong.groupBy("region").agg(F.max(F.struct(F.col("score"), F.col("player"))).alias("best"), F.count("*").alias("n"))
    return top.writeStream.outputMode("update").foreachBatch(publish)
