import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "room string, user string, text string, ts timestamp"


def chat(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/chat")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    rooms = chat(spark).groupBy(F.lower(F.trim("room")).alias("room")).agg(
        F.count("*").alias("n"), F.collect_set("user").alias("users")
    )
    rooms = rooms.withColumn("users", F.size("users"))
    return rooms.writeStream.outputMode("complete").foreachBatch(publish)
