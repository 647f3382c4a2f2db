import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "atm string, bank string, card string, cents long, country string, taken timestamp"
FEE_HOME, FEE_ABROAD, FLOOR_CENTS = 0.01, 0.0175, 350


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def fee(cents, country):
    rate = F.when(country == "DE", FEE_HOME).otherwise(FEE_ABROAD)
    return F.greatest(F.round(cents * rate).cast("long"), F.lit(FLOOR_CENTS))


def build(spark):
    taken = (
        spark.readStream.schema(SCHEMA).json(f"{LAKE}/withdrawals")
        .withWatermark("taken", "1 hour")
        .dropDuplicatesWithinWatermark(["atm", "card", "cents"])
    )
    billed = taken.select("atm", "card", "taken", fee(F.col("cents"), F.col("country")).alias("fee"))
    return billed.writeStream.outputMode("append").foreachBatch(publish)
