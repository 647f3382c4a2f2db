import os

from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StringType, StructField, StructType, TimestampType

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
RECEIPT = StructType(
    [
        StructField("receipt", StringType()),
        StructField("kiosk", StringType()),
        StructField("amount", DoubleType()),
        StructField("printed", TimestampType()),
    ]
)
SMALLEST = 1.0


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    raw = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "kiosk-receipts")
        .option("startingOffsets", "earliest")
        .load()
    )
    receipts = (
        raw.select(F.from_json(F.col("value").cast("string"), RECEIPT).alias("r"))
        .select("r.*")
        .where(F.col("amount") >= SMALLEST)
        .withWatermark("printed", "20 minutes")
    )
    kiosks = receipts.groupBy(F.window("printed", "1 hour"), "kiosk").agg(
        F.sum("amount").alias("amount"), F.count("*").alias("receipts"), F.min("amount").alias("smallest")
    )
    return kiosks.writeStream.outputMode("update").foreachBatch(publish)
