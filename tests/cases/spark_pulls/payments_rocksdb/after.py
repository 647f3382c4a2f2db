import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "txn_id string, account string, merchant string, kind string, amount decimal(12,2), ok boolean, ts timestamp"


def payments(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/payments")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    daily = payments(spark).groupBy(F.to_date("ts").alias("day"), "account").agg(F.sum("amount").alias("amount"))
    return daily.writeStream.outputMode("update").foreachBatch(publish)
