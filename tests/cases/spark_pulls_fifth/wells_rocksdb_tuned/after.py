import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "well string, basin string, level_m double, pumped int, read_at timestamp"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "3",
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "true",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": "128",
    "spark.sql.streaming.minBatchesToRetain": "20",
}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    readings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")
    latest = readings.groupBy("well", "basin").agg(F.max("read_at").alias("newest"), F.sum("pumped").alias("pumped"))
    writer = latest.writeStream.queryName("pumped_per_well").outputMode("update").foreachBatch(publish)
    return writer.trigger(processingTime="1 minute")
