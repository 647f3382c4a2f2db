import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "coil string, line string, heat double, mm double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def explained():
    return F.pow(F.corr("heat", "mm"), 2)


def build(spark):
    coils = spark.readStream.schema(SCHEMA).json(f"{LAKE}/thickness").where("heat IS NOT NULL AND mm IS NOT NULL")
    once = coils.withWatermark("at", "20 minutes").dropDuplicatesWithinWatermark(["coil", "heat", "mm"])
    lines = once.groupBy(F.window("at", "2 hours"), "line").agg(
        explained().alias("explained"), F.count("*").alias("coils"), F.max("mm").alias("thickest")
    )
    return lines.writeStream.outputMode("append").foreachBatch(publish)
