import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "atm string, bank string, card string, cents long, country string, taken timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    taken = spark.readStream.schema(SCHEMA).json(f"{LAKE}/withdrawals")
    in_euros = taken.withColumn("euros", F.col("cents") / 100)
    banks = in_euros.groupBy("bank").agg(F.count("*").alias("withdrawals"), F.sum("euros").alias("euros"))
    return banks.writeStream.outputMode("update").foreachBatch(publish)
