import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "message string, picker string, kilos array<double>, sorts array<string>, picked timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def crates(messages):
    pairs = F.zip_with("kilos", "sorts", lambda kg, sort: F.struct(kg.alias("kg"), sort.alias("sort")))
    return messages.select("picker", "picked", F.inline(pairs))


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/picked_crates").withWatermark("picked", "15 minutes")
    picked = crates(read.dropDuplicatesWithinWatermark(["message"]).where("picker IS NOT NULL"))
    turns = picked.groupBy(F.session_window("picked", "12 minutes"), "picker").agg(
        F.sum("kg").alias("kg"), F.count("sort").alias("sorted"), F.max_by("sort", "kg").alias("heaviest")
    )
    return turns.writeStream.outputMode("append").foreachBatch(publish)
