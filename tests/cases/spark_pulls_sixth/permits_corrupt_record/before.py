import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "permit string, district string, fee decimal(8,2), filed timestamp"


def permits(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/permits")


def build(spark):
    fees = permits(spark).withColumn("district", F.coalesce("district", F.lit("unknown")))
    once = fees.withWatermark("filed", "1 hour").dropDuplicates(["permit", "district"])
    return (
        once.select("permit", "district", F.round("fee").alias("fee"))
        .writeStream.format("parquet")
        .option("path", f"{LAKE}/out/fees")
        .outputMode("append")
    )
