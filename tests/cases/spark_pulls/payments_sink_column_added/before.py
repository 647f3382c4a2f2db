import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "txn_id string, account string, merchant string, kind string, amount decimal(12,2), ok boolean, ts timestamp"


def payments(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/payments")


def build(spark):
    out = payments(spark).where("ok").select("txn_id", "account", "amount")
    return out.writeStream.format("parquet").option("path", f"{LAKE}/out/payments").outputMode("append")
