import os

from pyspark.sql.functions import col, count, from_json, max as max_, when

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
TOPICS = ["umbrella-lends", "umbrella-returns"]
EVENT = "umbrella string, station string, kind string, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", ",".join(TOPICS))
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", "false")
        .load()
    )
    events = records.select(from_json(col("value").cast("string"), EVENT).alias("e")).select("e.*")
    stations = (
        events.filter(col("station").isNotNull())
        .groupBy("station")
        .agg(
            count(when(col("kind") == "lend", 1)).alias("lent"),
            count(when(col("kind") == "return", 1)).alias("returned"),
            max_("at").alias("last"),
        )
    )
    return stations.writeStream.outputMode("update").foreachBatch(publish)
