import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "horse string, litres double, drank timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    drinking = spark.readStream.schema(SCHEMA).json(f"{LAKE}/drinking").withWatermark("drank", "30 minutes")
    once = drinking.dropDuplicatesWithinWatermark(["stable", "horse", "drank"])
    stables = once.groupBy(F.window("drank", "1 hour"), "stable").agg(
        F.sum("litres").alias("litres"), F.approx_count_distinct("horse").alias("horses")
    )
    return stables.writeStream.outputMode("append").foreachBatch(publish)
