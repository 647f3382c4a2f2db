import os

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "guest string, ship string, venue string, amount double, charged_at timestamp"
TIP_RATE = 0.18


def tip_of(amount: str) -> Column:
    return F.round(F.col(amount) * TIP_RATE, 2)


def valid_charges(charges: DataFrame) -> DataFrame:
    return charges.where("ship IS NOT NULL AND amount > 0")


def add_columns(charges: DataFrame) -> DataFrame:
    return charges.withColumns(
        {
            "tip": tip_of("amount"),
            "venue": F.coalesce(F.lower("venue"), F.lit("unknown")),
        }
    )


def charges_per_venue(charges: DataFrame, length: str, delay: str) -> DataFrame:
    return (
        charges.withWatermark("charged_at", delay)
        .groupBy(F.window("charged_at", length), "ship", "venue")
        .agg(
            F.sum("amount").alias("amount"),
            F.sum("tip").alias("tips"),
            F.count("guest").alias("charges"),
        )
    )


def publish(batch: DataFrame, batch_id: int) -> None:
    batch.write.format("noop").mode("append").save()


def build(spark):
    charges = spark.readStream.schema(SCHEMA).json(f"{LAKE}/cruise_charges")
    venues = (
        charges.transform(valid_charges)
        .transform(add_columns)
        .transform(charges_per_venue, length="30 minutes", delay="15 minutes")
    )
    return venues.writeStream.outputMode("append").foreachBatch(publish)
