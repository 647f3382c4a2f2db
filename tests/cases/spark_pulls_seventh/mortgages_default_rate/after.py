import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "message_id string, payment_id string, bank string, loan string, principal double, rate double, paid timestamp"
TOPIC = "mortgage-interest"
DEFAULT = 3.5


def payments(spark):
    options = {"kafka.bootstrap.servers": BROKER, "subscribe": TOPIC, "startingOffsets": "earliest"}
    topic = spark.readStream.format("kafka").options(**options).load()
    return topic.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("paid")).select("paid.*")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def interest():
    return F.col("principal") * F.coalesce("rate", F.lit(DEFAULT)) / 1200


def build(spark):
    once = payments(spark).withWatermark("paid", "1 hour").dropDuplicates(["payment_id", "paid"])
    banks = (
        once.withColumn("interest", interest())
        .groupBy(F.to_date("paid").alias("day"), "bank")
        .agg(F.sum("interest").alias("interest"), F.avg("principal").alias("principal"), F.count("rate").alias("rated"))
    )
    return banks.writeStream.outputMode("update").foreachBatch(publish)
