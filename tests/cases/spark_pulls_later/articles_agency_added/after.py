import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "id string, section string, headline string, tags array<string>, words int, ts timestamp"


def articles(spark, folder="articles"):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/{folder}")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    everything = articles(spark).unionByName(articles(spark, "wires"))
    sections = everything.groupBy("section").agg(F.count("*").alias("articles"), F.sum("words").alias("words"))
    return sections.writeStream.outputMode("update").foreachBatch(publish)
