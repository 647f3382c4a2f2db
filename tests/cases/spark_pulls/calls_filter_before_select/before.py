import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "caller string, callee string, cell string, seconds int, roaming boolean, ts timestamp"


def calls(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls")


def build(spark):
    minutes = calls(spark).select(
        "cell", (F.col("seconds") / 60).alias("minutes"), F.col("roaming").alias("abroad")
    )
    busy = minutes.where("minutes >= 0.2 and not abroad")
    by_cell = busy.groupBy("cell").agg(F.sum("minutes").alias("minutes"), F.count("*").alias("calls"))
    return by_cell.writeStream.outputMode("update").format("console")
