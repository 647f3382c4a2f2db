import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "member string, gym string, exercise string, reps int, weight double, at timestamp"


def sets(spark):
    lines = spark.readStream.text(f"{LAKE}/sets")
    return lines.select("value", F.from_json("value", SCHEMA).alias("set")).select("value", "set.*")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    gyms = sets(spark).groupBy("gym", "exercise").agg(
        F.sum("reps").alias("reps"), F.max("weight").alias("weight")
    )
    return gyms.writeStream.outputMode("update").foreachBatch(publish)
