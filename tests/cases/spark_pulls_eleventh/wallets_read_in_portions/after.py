import os

from pyspark.sql.functions import col, count, from_json, sum, to_json, struct

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
PAYMENT = "payment string, wallet string, cents bigint, kind string, paid timestamp"


def build(spark):
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("subscribe", "wallet-payments")
        .option("startingOffsets", "latest")
        .option("maxOffsetsPerTrigger", 6)
        .option("failOnDataLoss", "false")
        .load()
    )
    payments = records.select(from_json(col("value").cast("string"), PAYMENT).alias("p")).select("p.*")
    balances = payments.filter("wallet IS NOT NULL").groupBy("wallet").agg(
        sum("cents").alias("cents"), count("*").alias("payments")
    )
    return (
        balances.select(col("wallet").alias("key"), to_json(struct("wallet", "cents", "payments")).alias("value"))
        .writeStream.outputMode("update")
        .format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", "wallet-balances")
    )
