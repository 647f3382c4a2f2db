import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
TAKEN = "bike string, rider string, station string, taken timestamp"
RETURNED = "bike string, station string, battery int, returned timestamp"
LONGEST = F.expr("INTERVAL 1 HOUR")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    taken = spark.readStream.schema(TAKEN).json(f"{LAKE}/ebikes_taken").withWatermark("taken", "15 minutes")
    returned = (
        spark.readStream.schema(RETURNED)
        .json(f"{LAKE}/ebikes_returned")
        .withWatermark("returned", "15 minutes")
        .withColumnsRenamed({"bike": "returned_bike", "station": "returned_to"})
    )
    trips = taken.join(
        returned,
        (F.col("bike") == F.col("returned_bike"))
        & (F.col("returned") >= F.col("taken"))
        & (F.col("returned") <= F.col("taken") + LONGEST),
    )
    return trips.drop("returned_bike").writeStream.outputMode("append").foreachBatch(publish)
