import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "id string, account string, country string, amount decimal(14,2), device struct<os:string,known:boolean>, ts timestamp"


def transfers(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/transfers")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


@F.udf("string")
def risk(amount, country):
    """Rate a transfer."""
    if (country or "").upper() in ("RU", "KP", "IR"):
        return "high" if amount is None or amount >= 1 else "medium"
    return "low" if amount is None or amount < 1000 else "medium"


def build(spark):
    rated = transfers(spark).withColumn("risk", risk("amount", "country"))
    risks = rated.groupBy("risk").agg(F.count("*").alias("transfers"))
    return risks.writeStream.outputMode("update").foreachBatch(publish)
