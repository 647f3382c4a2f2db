import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")
TOPIC = "email-events-v2"
SCHEMA = "message string, campaign string, event string, happened timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    events = (
        spark.readStream.format("kafka")
        .options(
            **{
                "kafka.bootstrap.servers": BROKER,
                "subscribe": TOPIC,
                "startingOffsets": "earliest",
                "failOnDataLoss": "false",
            }
        )
        .load()
        .selectExpr(f"from_json(cast(value AS string), '{SCHEMA}') AS e")
        .select("e.*")
    )
    campaigns = events.groupBy("campaign").agg(
        F.count("*").alias("events"),
        F.sum(F.expr("if(event = 'click', 1, 0)")).alias("clicks"),
    )
    return campaigns.writeStream.outputMode("update").foreachBatch(publish)
