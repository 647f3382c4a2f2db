import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "container string, port string, officer string, opened timestamp"
OPTIONS = {
    "kafka.bootstrap.servers": BROKER,
    "subscribe": "inspections",
    "startingTimestamp": "1767225600000",
    "startingOffsetsByTimestampStrategy": "latest",
    "maxOffsetsPerTrigger": 500,
}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    records = spark.readStream.format("kafka").options(**OPTIONS).load()
    opened = records.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("i")).select("i.*")
    once = opened.withWatermark("opened", "30 minutes").dropDuplicatesWithinWatermark(["container"])
    ports = once.groupBy(F.window("opened", "1 hour"), "port").agg(
        F.count("*").alias("containers"), F.approx_count_distinct("officer").alias("officers")
    )
    return ports.writeStream.outputMode("append").foreachBatch(publish)
