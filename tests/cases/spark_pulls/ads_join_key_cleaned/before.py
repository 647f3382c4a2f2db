import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

IMPRESSIONS = "imp_id string, campaign string, cost double, ts timestamp"
CLICKS = "imp_id string, user string, ts timestamp"


def impressions(spark):
    return spark.readStream.schema(IMPRESSIONS).json(f"{LAKE}/imps").withWatermark("ts", "2 minutes")


def clicks(spark):
    return spark.readStream.schema(CLICKS).json(f"{LAKE}/clks").withWatermark("ts", "1 minute")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    shown = impressions(spark).withColumn("key", F.col("imp_id"))
    clicked = clicks(spark).select(F.col("imp_id").alias("key"), "user", F.col("ts").alias("click_ts"))
    joined = shown.join(clicked, "key").where("click_ts >= ts")
    return joined.select("key", "campaign", "user").writeStream.foreachBatch(publish)
