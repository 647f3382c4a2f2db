import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")

SCHEMA = "ring string, species string, site string, grams double, at timestamp"


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def sightings(spark):
    topic = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "sightings-north")
        .option("startingOffsets", "earliest")
        .load()
    )
    birds = F.from_json(F.col("value").cast("string"), SCHEMA)
    return topic.select(birds.alias("bird")).select("bird.*")


def build(spark):
    species = (
        sightings(spark)
        .where("ring is not null")
        .groupBy("species")
        .agg(F.count("*").alias("sightings"), F.max("grams").alias("heaviest"))
    )
    return species.writeStream.outputMode("update").foreachBatch(publish)
