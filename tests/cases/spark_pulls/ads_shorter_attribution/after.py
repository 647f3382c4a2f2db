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
    clicked = clicks(spark).withColumnsRenamed({"imp_id": "click_imp", "ts": "click_ts"})
    condition = F.expr("imp_id = click_imp AND click_ts BETWEEN ts AND ts + interval 90 seconds")
    joined = impressions(spark).join(clicked, condition, "inner")
    out = joined.select("imp_id", "campaign", "user", "cost")
    return out.writeStream.outputMode("append").foreachBatch(publish)
