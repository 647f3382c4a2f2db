import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bridge string, lane int, axles int, tons double, crossed timestamp"
SOURCE = "bronze/bridge_loads"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    crossed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/{SOURCE}")
    lanes = (
        crossed.where("bridge IS NOT NULL AND tons IS NOT NULL")
        .groupBy("bridge", "lane")
        .agg(F.sum("tons").alias("tons"), F.max("tons").alias("heaviest"), F.count("*").alias("vehicles"))
    )
    return lanes.writeStream.outputMode("update").foreachBatch(publish)
