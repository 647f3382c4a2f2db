import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "atm string, bank string, card string, cents long, country string, taken timestamp"
FEE = 0.015


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def fee(cents, country):
    return F.round(cents * FEE).cast("long")


def build(spark):
    taken = (
        spark.readStream.schema(SCHEMA).json(f"{LAKE}/withdrawals")
        .withWatermark("taken", "1 hour")
        .dropDuplicatesWithinWatermark(["atm", "card", "cents"])
    )
    billed = taken.select("atm", "card", "taken", fee(F.col("cents"), F.col("country")).alias("fee"))
    return billed.writeStream.outputMode("append").foreachBatch(publish)
