import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "charge string, station string, plug string, kwh decimal(9,3), cents long, idle int, done timestamp"


def charges(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/charges")


def build(spark):
    done = charges(spark).where(F.col("kwh") > 0).select("charge", "station", "kwh", F.date_format("done", "yyyy-MM").alias("month"))
    return (
        done.writeStream.format("parquet")
        .option("path", f"{LAKE}/out/charges")
        .partitionBy("month")
        .outputMode("append")
    )
