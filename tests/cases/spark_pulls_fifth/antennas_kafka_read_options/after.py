import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "cell string, band string, dropped int, users int, measured timestamp"
OPTIONS = {
    "kafka.bootstrap.servers": BROKER,
    "subscribe": "antenna-cells",
    "startingOffsets": "earliest",
    "maxOffsetsPerTrigger": "4",
    "minPartitions": "2",
    "includeHeaders": "true",
    "kafka.max.poll.records": "200",
}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    records = spark.readStream.format("kafka").options(**OPTIONS).load()
    cells = records.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("c"), "offset").select("c.*", "offset")
    worst = cells.groupBy("cell").agg(F.max(F.struct("dropped", "offset")).alias("worst"), F.sum("users").alias("users"))
    return worst.select("cell", "worst.*", "users").writeStream.outputMode("complete").foreachBatch(publish)
