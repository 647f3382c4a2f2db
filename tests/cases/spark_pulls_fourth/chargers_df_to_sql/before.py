import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "charge string, station string, plug string, kwh decimal(9,3), cents long, idle int, done timestamp"


def charges(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/charges")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    stations = (
        charges(spark)
        .where(F.col("kwh") > 0)
        .groupBy("station")
        .agg(
            F.count("*").alias("charges"),
            F.sum("kwh").alias("kwh"),
            F.sum(F.when(F.col("plug") == "CCS", F.col("cents")).otherwise(0)).alias("fast_cents"),
            F.max("done").alias("newest"),
        )
    )
    return stations.writeStream.outputMode("update").foreachBatch(publish)
