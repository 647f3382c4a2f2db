import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "job string, printer string, material string, layers array<struct<no:int,ok:boolean>>, grams double, ended timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def has_failed(layers):
    return F.exists(layers, lambda layer: ~layer["ok"])


def build(spark):
    jobs = spark.readStream.schema(SCHEMA).json(f"{LAKE}/jobs")
    results = (
        jobs.withColumn("failed", has_failed(F.col("layers")))
        .groupBy("material", "failed")
        .agg(F.count("*").alias("jobs"), F.sum("grams").alias("grams"))
    )
    return results.writeStream.outputMode("update").foreachBatch(publish)
