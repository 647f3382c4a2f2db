import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tank string, beer string, liters decimal(8,2), plato decimal(4,2), taken timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    samples = spark.readStream.schema(SCHEMA).json(f"{LAKE}/samples").na.drop(subset=["tank"])
    days = (
        samples.withColumn("day", F.col("taken").cast("date"))
        .groupBy("day", "tank")
        .agg(F.min("plato").alias("lowest"), F.max("plato").alias("highest"), F.count("*").alias("samples"))
        .withColumn("fell", F.col("highest") - F.col("lowest"))
    )
    return days.writeStream.outputMode("complete").foreachBatch(publish)
