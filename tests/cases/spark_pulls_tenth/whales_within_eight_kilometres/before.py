import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
CALLS = "call string, area string, km double, heard timestamp"
SIGHTINGS = "boat string, area string, km double, whales int, seen timestamp"
SOON = "seen BETWEEN heard - INTERVAL 20 MINUTES AND heard + INTERVAL 20 MINUTES"
KILOMETRES = 5.0


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    calls = spark.readStream.schema(CALLS).json(f"{LAKE}/heard_calls").withWatermark("heard", "20 minutes").alias("c")
    seen = spark.readStream.schema(SIGHTINGS).json(f"{LAKE}/seen_whales").withWatermark("seen", "20 minutes").alias("s")
    near = F.abs(F.col("c.km") - F.col("s.km")) <= KILOMETRES
    heard = calls.join(seen, (F.col("c.area") == F.col("s.area")) & near & F.expr(SOON))
    areas = heard.groupBy(F.window("seen", "1 hour"), F.col("s.area").alias("area")).agg(
        F.count("*").alias("pairs"), F.approx_count_distinct("call").alias("calls"), F.max("whales").alias("whales")
    )
    return areas.writeStream.outputMode("append").foreachBatch(publish)
