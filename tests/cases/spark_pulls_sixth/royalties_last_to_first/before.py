import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "recording string, contract string, share double, signed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    contracts = spark.readStream.schema(SCHEMA).json(f"{LAKE}/contracts").where("recording IS NOT NULL")
    recordings = contracts.groupBy("recording").agg(
        F.last("contract", ignorenulls=True).alias("contract"),
        F.max("share").alias("share"),
        F.count("*").alias("changes"),
    )
    return recordings.where("share > 0").writeStream.outputMode("update").foreachBatch(publish)
