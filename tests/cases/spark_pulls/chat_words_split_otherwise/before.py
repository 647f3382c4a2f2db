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
    words = chat(spark).select(F.explode(F.split(F.lower("text"), " ")).alias("word")).where("word <> ''")
    return words.groupBy("word").count().writeStream.outputMode("update").foreachBatch(publish)
