import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "value string"


def events(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/events")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    body = F.from_json("value", "id string, gross double, net double")
    out = events(spark).select(body.alias("b")).select("b.id", F.col("b.gross").alias("amount")).where("amount > 1")
    return out.writeStream.outputMode("append").queryName("parsed").foreachBatch(publish)
