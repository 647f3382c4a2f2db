import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
EVENT = "event_id string, customer string, plan string, action string, happened timestamp"
PLAN = "plan string, price double, is_test boolean"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def events(spark):
    return (
        spark.readStream.schema(EVENT)
        .json(f"{LAKE}/subscription_events")
        .filter(F.col("action").isin("start", "cancel", "upgrade"))
        .withWatermark("happened", "1 hour")
        .dropDuplicatesWithinWatermark(["event_id"])
    )


def plans(spark):
    return spark.read.schema(PLAN).json(f"{LAKE}/tables/plans").filter("NOT is_test").select("plan", "price")


def build(spark):
    changes = (
        events(spark)
        .join(F.broadcast(plans(spark)), on="plan", how="inner")
        .select("event_id", "customer", "plan", "price", "action", "happened")
    )
    return changes.writeStream.outputMode("append").foreachBatch(publish)
