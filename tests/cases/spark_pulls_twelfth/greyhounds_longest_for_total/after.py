import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "run string, dog string, kennel string, metres double, seconds double, finished timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    runs = spark.readStream.schema(SCHEMA).json(f"{LAKE}/greyhound_runs").where("dog IS NOT NULL")
    dogs = runs.groupBy("kennel", "dog").agg(
        F.max("metres").alias("longest_run"),
        F.min("seconds").alias("best"),
        F.count("run").alias("runs"),
    )
    return dogs.writeStream.outputMode("update").foreachBatch(publish)
