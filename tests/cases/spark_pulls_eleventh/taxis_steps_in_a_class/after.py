import os
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")


class Settings(NamedTuple):
    path: str = f"{LAKE}/taxi_rides"
    schema: str = "ride_id string, driver string, zone string, fare double, tip double, ended string"
    lateness: str = "15 minutes"
    length: str = "30 minutes"


class RevenueOfZones:
    def __init__(self, spark: SparkSession, settings: Settings):
        self.spark = spark
        self.settings = settings

    def read(self) -> DataFrame:
        return self.spark.readStream.schema(self.settings.schema).json(self.settings.path)

    def clean(self, rides: DataFrame) -> DataFrame:
        total = F.col("fare") + F.coalesce(F.col("tip"), F.lit(0.0))
        return rides.where("fare IS NOT NULL").select(
            "zone", F.to_timestamp("ended").alias("ended_at"), total.alias("total")
        )

    def aggregate(self, rides: DataFrame) -> DataFrame:
        slot = F.window("ended_at", self.settings.length).alias("slot")
        return (
            rides.withWatermark("ended_at", self.settings.lateness)
            .groupBy(slot, "zone")
            .agg(F.sum("total").alias("revenue"), F.count("*").alias("rides"))
        )

    def shape(self, zones: DataFrame) -> DataFrame:
        return zones.selectExpr("slot.start AS `from`", "slot.end AS `to`", "zone", "revenue", "rides")

    def run(self) -> DataFrame:
        return self.read().transform(self.clean).transform(self.aggregate).transform(self.shape)


def write_to_warehouse(df: DataFrame, epoch_id: int) -> None:
    df.write.format("noop").mode("append").save()


def build(spark):
    zones = RevenueOfZones(spark, Settings()).run()
    return zones.writeStream.outputMode("append").foreachBatch(write_to_warehouse)
