import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "id string, rec string, usr string, sec int, ts timestamp"


def publish(df, n):
    df.write.format("noop").mode("append").save()


def build(spark):
    df = spark.readStream.schema(SCHEMA).json(f"{LAKE}/vinyl_plays")
    df = df.filter("sec >= 30").dropDuplicates(["id"])
    df = df.groupBy("rec").agg(F.count("id").alias("n"), F.sum("sec").alias("s"), F.max("ts").alias("last"))
    return df.writeStream.outputMode("update").foreachBatch(publish)
