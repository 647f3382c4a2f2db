import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "message_id string, payment_id string, bank string, loan string, principal double, rate double, paid timestamp"
TOPIC = "mortgage-payments"


def payments(spark):
    options = {"kafka.bootstrap.servers": BROKER, "subscribe": TOPIC, "startingOffsets": "earliest"}
    topic = spark.readStream.format("kafka").options(**options).load()
    return topic.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("paid")).select("paid.*")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    paid = payments(spark).where("principal IS NOT NULL").withWatermark("paid", "90 minutes")
    once = paid.dropDuplicatesWithinWatermark(["message_id"])
    loans = once.groupBy(F.window("paid", "30 minutes"), "bank").agg(
        F.count("*").alias("payments"), F.min("loan").alias("loan"), F.max("rate").alias("rate")
    )
    return loans.writeStream.outputMode("append").foreachBatch(publish)
