import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "plate string, site string, bay int, programme string, price double, washed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    washes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/washes").withWatermark("washed", "10 minutes")
    bays = washes.groupBy(F.window("washed", "10 minutes"), "site", "bay").agg(
        F.count("*").alias("cars"), F.sum("price").alias("price")
    )
    hours = (
        bays.groupBy(F.window("window", "1 hour"), "site")
        .agg(F.max("cars").alias("most"), F.sum("price").alias("price"), F.count_if(F.col("cars") > 1).alias("busy"))
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
