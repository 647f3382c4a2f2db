import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ring string, collar string, lake string, seen timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.jsonGenerator.ignoreNullFields", "false")
    seen = spark.readStream.schema(SCHEMA).json(f"{LAKE}/seen_swans").withWatermark("seen", "1 hour")
    swans = seen.withColumn("swan", F.to_json(F.struct("ring", "collar"))).dropDuplicatesWithinWatermark(["swan"])
    lakes = swans.groupBy(F.window("seen", "1 hour"), "lake").agg(
        F.count("*").alias("swans"), F.count("ring").alias("ringed")
    )
    return lakes.writeStream.outputMode("append").foreachBatch(publish)
