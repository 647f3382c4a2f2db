import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "id string, section string, headline string, tags array<string>, words int, ts timestamp"


def articles(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/articles")


def build(spark):
    out = articles(spark).where("words > 100").select("id", "section", F.col("words").alias("length"))
    return out.writeStream.format("parquet").option("path", f"{LAKE}/out/articles").outputMode("append")
