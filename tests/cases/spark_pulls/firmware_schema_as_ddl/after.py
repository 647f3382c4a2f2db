import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

EVENT = "id string, body struct<kind: string, fw: string>, n bigint"


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    raw = spark.readStream.text(f"{LAKE}/raw")
    events = raw.withColumn("e", F.from_json("value", EVENT)).select("e.*")
    by_version = events.groupBy("body.fw", "body.kind").agg(F.sum("n").alias("n"))
    return by_version.writeStream.outputMode("update").foreachBatch(publish)
