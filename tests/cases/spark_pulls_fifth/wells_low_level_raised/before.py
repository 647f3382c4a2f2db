import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "well string, basin string, level_m double, pumped int, read_at timestamp"
LOW_M = 2.0


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def low(level, limit=LOW_M):
    return F.when(level < limit, 1).otherwise(0)


def build(spark):
    readings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings").where("level_m IS NOT NULL")
    warned = readings.groupBy("well").agg(
        F.sum(low(F.col("level_m"))).alias("low_readings"),
        F.count("level_m").alias("readings"),
        F.max("read_at").alias("newest"),
    )
    return warned.where("low_readings > 0").writeStream.outputMode("update").foreachBatch(publish)
