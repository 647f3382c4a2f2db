import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "caller string, callee string, cell string, seconds int, roaming boolean, ts timestamp"


def calls(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls")


def build(spark):
    home = calls(spark).where(~F.col("roaming")).where("seconds / 60 >= 0.2")
    busy = home.select("cell", (F.col("seconds") / 60).alias("minutes"))
    by_cell = busy.groupBy("cell").agg(F.sum("minutes").alias("minutes"), F.count("*").alias("calls"))
    return by_cell.writeStream.outputMode("update").format("console")
