import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "drone string, pos struct<lat:double,lon:double,alt:int,raw:string>, battery int, mission string, sent timestamp"


def telemetry(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/telemetry")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    places = (
        telemetry(spark)
        .where(F.col("drone").isNotNull())
        .withColumn("pos", F.struct("pos.lat", "pos.lon", "pos.alt"))
        .dropDuplicates(["drone", "pos"])
        .select("drone", "pos", "sent")
    )
    return places.writeStream.outputMode("append").foreachBatch(publish)
