import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "dive string, whale string, depth int, dived timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    dives = spark.readStream.schema(SCHEMA).json(f"{LAKE}/dives_of_whales").withWatermark("dived", "20 minutes")
    once = dives.dropDuplicatesWithinWatermark(["dive"])
    whales = once.groupBy(F.window("dived", "1 hour"), "whale").agg(
        F.percentile_approx("depth", 0.5).alias("median"), F.count_if(F.col("depth") > 300).alias("deep")
    )
    return whales.writeStream.outputMode("append").foreachBatch(publish)
