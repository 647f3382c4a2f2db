import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "feeding string, animal string, species string, grams int, weight double, fed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def feedings(spark):
    topic = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "zoo-feedings")
        .option("startingOffsets", "earliest")
        .load()
    )
    return topic.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("f")).select("f.*")


def build(spark):
    fed = feedings(spark).groupBy("animal").agg(F.max("fed").alias("fed"), F.sum("grams").alias("grams"))
    return fed.writeStream.outputMode("update").foreachBatch(publish)
