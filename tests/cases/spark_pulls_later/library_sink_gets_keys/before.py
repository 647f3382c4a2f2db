import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")

SCHEMA = "loan string, isbn string, member string, branch string, days int, at timestamp"


def build(spark):
    topic = (
        spark.readStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": BROKER, "subscribe": "member-loans", "startingOffsets": "earliest"})
        .load()
    )
    loans = topic.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("b")).select("b.*")
    long = loans.where("days >= 14").select(F.to_json(F.struct("loan", "member", "days")).alias("value"))
    return (
        long.writeStream.outputMode("append")
        .format("kafka")
        .options(**{"kafka.bootstrap.servers": BROKER, "topic": "long-loans"})
    )
