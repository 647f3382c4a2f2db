import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gate string, dam string, flow double, level double, measured timestamp"
SHARDS = 4


def shard(column):
    return F.pmod(F.hash(column), F.lit(SHARDS))


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    gates = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gates").withWatermark("measured", "20 minutes")
    shards = (
        gates.where("gate IS NOT NULL AND flow >= 0")
        .groupBy(F.window("measured", "2 hours"), shard("gate").alias("shard"), "dam")
        .agg(F.sum("flow").alias("flow"), F.max("level").alias("level"), F.count("*").alias("readings"))
    )
    return shards.writeStream.outputMode("update").foreachBatch(publish)
