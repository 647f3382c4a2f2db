import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tag string, airline string, gate string, kg double, dropped_at timestamp"
HEAVY_KG = 32


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def heavy_bags(bags):
    return bags.filter(F.col("kg") > HEAVY_KG).filter(F.col("airline").isNotNull())


def build(spark):
    bags = spark.readStream.schema(SCHEMA).json(f"{LAKE}/luggage")
    airlines = (
        bags.transform(heavy_bags)
        .withWatermark("dropped_at", "20 minutes")
        .groupBy(F.window("dropped_at", "1 hour").alias("hour"), "airline")
        .agg(F.count("*").alias("heavy_bags"), F.sum("kg").alias("kg"))
        .select("hour.start", "airline", "heavy_bags", "kg")
    )
    return airlines.writeStream.outputMode("append").foreachBatch(publish)
