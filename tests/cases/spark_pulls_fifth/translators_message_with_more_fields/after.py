import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
MESSAGE = "segment string, translator string, pair string, text string, score double, saved timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def segments(spark):
    topic = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "translation-segments")
        .option("startingOffsets", "earliest")
        .load()
    )
    message = F.from_json(F.decode("value", "UTF-8"), MESSAGE)
    return topic.withColumn("m", message).select("m.*")


def build(spark):
    once = segments(spark).withWatermark("saved", "30 minutes").dropDuplicates(["segment", "translator"])
    finished = once.select("segment", "translator", "saved", F.coalesce("score", F.lit(0.0)).alias("score"))
    return finished.writeStream.outputMode("append").foreachBatch(publish)
