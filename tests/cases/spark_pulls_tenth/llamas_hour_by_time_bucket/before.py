import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SEEN = "llama string, trail string, load_kg double, seen timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def by_hour(seen):
    return seen.withColumn("hour", F.date_trunc("hour", "seen"))


def loads(seen):
    return seen.groupBy("trail", "hour").agg(
        F.sum("load_kg").alias("load_kg"), F.approx_count_distinct("llama").alias("llamas")
    )


def build(spark):
    seen = spark.readStream.schema(SEEN).json(f"{LAKE}/llamas_at_gates")
    return (
        seen.dropna(subset=["trail"])
        .transform(by_hour)
        .transform(loads)
        .writeStream.outputMode("update")
        .foreachBatch(publish)
    )
