import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
POWER = "turbine string, farm string, kw double, sent timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    power = spark.readStream.schema(POWER).json(f"{LAKE}/power").withWatermark("sent", "15 minutes")
    parks = spark.read.schema("farm string, country string").json(f"{LAKE}/parks")
    quarters = (
        power.join(parks, "farm")
        .groupBy(F.window("sent", "30 minutes"), "country")
        .agg(F.avg("kw").alias("typical"), F.count("kw").alias("readings"))
    )
    return quarters.select("window.start", "country", "typical").writeStream.outputMode("append").foreachBatch(publish)
