import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "unit string, donor string, blood string, rh string, ml int, drawn timestamp"


def donations(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/donations")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    types = (
        donations(spark)
        .groupBy(F.concat_ws("", "blood", "rh").alias("type"))
        .agg(F.sum("ml").alias("ml"), F.count("unit").alias("units"))
    )
    return types.writeStream.outputMode("update").foreachBatch(publish)
