import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "pump string, house string, heat_kwh double, power_kwh double, measured timestamp"
WINDOW = "1 hour"
DELAY = "10 minutes"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def with_cop(measured):
    return measured.where("power_kwh > 0").withColumn("cop", F.col("heat_kwh") / F.col("power_kwh"))


def build(spark):
    measured = spark.readStream.schema(SCHEMA).json(f"{LAKE}/heatpumps")
    houses = (
        measured.transform(with_cop)
        .withWatermark("measured", DELAY)
        .groupBy("house", F.window("measured", WINDOW))
        .agg(F.avg("cop").alias("cop"), F.sum("power_kwh").alias("power_kwh"))
    )
    return houses.writeStream.outputMode("append").foreachBatch(publish)
