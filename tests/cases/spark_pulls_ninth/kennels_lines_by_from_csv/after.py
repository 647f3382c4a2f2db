import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
FIELDS = {"dog": "string", "kennel": "string", "grams": "int", "fed": "timestamp"}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    schema = ", ".join(f"{name} {kind}" for name, kind in FIELDS.items())
    lines = spark.readStream.text(f"{LAKE}/scales_of_kennels")
    meals = lines.select(F.from_csv("value", schema).alias("meal")).select("meal.*")
    once = meals.withWatermark("fed", "20 minutes").dropDuplicatesWithinWatermark(["dog", "fed"])
    kennels = once.groupBy(F.window("fed", "1 hour"), "kennel").agg(
        F.sum("grams").alias("grams"), F.max("grams").alias("largest"), F.approx_count_distinct("dog").alias("dogs")
    )
    return kennels.writeStream.outputMode("append").foreachBatch(publish)
