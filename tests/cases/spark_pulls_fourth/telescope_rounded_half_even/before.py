import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "image long, field string, band string, exposure float, seeing double, night date, taken timestamp"


def images(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/images")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    seeing = (
        images(spark)
        .withColumn("seeing", F.round("seeing", 1))
        .groupBy("seeing")
        .agg(F.count("image").alias("images"), F.sum("exposure").alias("exposure"))
    )
    return seeing.writeStream.outputMode("update").foreachBatch(publish)
