import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
EVENT = "event_id string, customer string, plan string, action string, happened timestamp"


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


def build(spark):
    changes = events(spark).select("event_id", "customer", "plan", "action", "happened")
    return changes.writeStream.outputMode("append").foreachBatch(publish)
