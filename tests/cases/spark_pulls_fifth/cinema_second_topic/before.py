import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "booking string, film string, hall int, price decimal(6,2), booked timestamp"
TOPICS = ["cinema-desk"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def bookings(spark):
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", ",".join(TOPICS))
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", "false")
        .load()
    )
    parsed = F.from_json(F.col("value").cast("string"), SCHEMA)
    return records.select(parsed.alias("b"), "topic").select("b.*", "topic")


def build(spark):
    halls = (
        bookings(spark)
        .where("hall IS NOT NULL")
        .groupBy("hall")
        .agg(F.sum("price").alias("takings"), F.count("*").alias("bookings"))
    )
    return halls.writeStream.outputMode("update").foreachBatch(publish)
