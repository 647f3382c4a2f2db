import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "device string, raw string, ts timestamp"


def readings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.ansi.enabled", "false")
    numbers = readings(spark).withColumn("value", F.col("raw").cast("double"))
    sums = numbers.groupBy("device").agg(F.sum("value").alias("total"), F.count("value").alias("n"))
    return sums.writeStream.outputMode("update").foreachBatch(publish)
