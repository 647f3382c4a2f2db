import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def sightings(spark):
    topic = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "bird-rings")
        .option("startingOffsets", "earliest")
        .load()
    )
    value = F.col("value").cast("string")
    return topic.select(
        F.get_json_object(value, "$.ring").alias("ring"),
        F.get_json_object(value, "$.species").alias("species"),
        F.get_json_object(value, "$.grams").try_cast("double").alias("grams"),
    )


def build(spark):
    species = (
        sightings(spark)
        .where("ring is not null")
        .groupBy("species")
        .agg(F.count("*").alias("sightings"), F.max("grams").alias("heaviest"))
    )
    return species.writeStream.outputMode("update").foreachBatch(publish)
