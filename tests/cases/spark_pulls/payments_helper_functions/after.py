import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "txn_id string, account string, merchant string, kind string, amount decimal(12,2), ok boolean, ts timestamp"


def payments(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/payments")


def settled(df):
    """Payments that went through."""
    return df.where(F.col("ok"))


def signed(amount, kind):
    """Refunds count against the account."""
    return F.when(kind == F.lit("REFUND"), -amount).otherwise(amount)


def balances(df):
    """Balance and last movement of each account."""
    movement = signed(F.col("amount"), F.col("kind"))
    return df.groupBy("account").agg(F.sum(movement).alias("balance"), F.max("ts").alias("last_seen"))


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    result = payments(spark).transform(settled).transform(balances)
    return result.writeStream.outputMode("update").foreachBatch(publish)
