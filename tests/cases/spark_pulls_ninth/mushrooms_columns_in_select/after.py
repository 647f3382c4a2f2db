import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "room string, bed string, grade string, grams int, picked timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/picked_mushrooms")
    picked = read.select(
        "bed", "room", F.upper("grade").alias("grade"), "picked", (F.col("grams") / 1000).alias("kilos")
    ).withWatermark("picked", "45 minutes")
    rooms = (
        picked.dropDuplicates()
        .groupBy(F.window("picked", "1 hour"), "room")
        .agg(F.sum("kilos").alias("kilos"), F.count_if(F.col("grade") == "A").alias("best"), F.count("*").alias("n"))
    )
    return rooms.writeStream.outputMode("append").foreachBatch(publish)
