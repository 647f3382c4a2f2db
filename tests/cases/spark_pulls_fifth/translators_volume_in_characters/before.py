import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "segment string, translator string, pair string, text string, score double, saved timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def volume(text):
    return F.size(F.split(F.trim(text), " "))


def build(spark):
    segments = spark.readStream.schema(SCHEMA).json(f"{LAKE}/segments").filter("text <> ''")
    work = segments.groupBy("translator", "pair").agg(
        F.sum(volume(F.col("text"))).alias("volume"), F.count("segment").alias("segments")
    )
    return work.writeStream.outputMode("update").foreachBatch(publish)
