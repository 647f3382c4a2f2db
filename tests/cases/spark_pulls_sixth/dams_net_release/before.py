import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "dam string, gate string, outflow double, inflow double, measured timestamp"
RELEASED = F.col("outflow")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    gates = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gates").withWatermark("measured", "30 minutes")
    hours = (
        gates.withColumn("released", RELEASED)
        .dropDuplicatesWithinWatermark(["gate", "measured"])
        .groupBy(F.window("measured", "2 hours"), "dam")
        .agg(F.sum("released").alias("released"), F.max("released").alias("most"))
    )
    return (
        hours.select("window.start", "dam", "released", "most").writeStream.outputMode("append").foreachBatch(publish)
    )
