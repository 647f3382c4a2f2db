import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "id string, account string, country string, amount decimal(14,2), device struct<os:string,known:boolean>, ts timestamp"


def transfers(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/transfers")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    listed = ", ".join(f"'{c}'" for c in sorted({"RU", "KP", "IR"}))
    watched = transfers(spark).where(f"amount >= 1 AND country IN ({listed})")
    accounts = watched.groupBy("account").agg(F.count("*").alias("n"), F.sum("amount").alias("amount"))
    return accounts.writeStream.outputMode("update").foreachBatch(publish)
