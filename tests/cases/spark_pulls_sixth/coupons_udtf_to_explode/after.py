import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "receipt string, shop string, codes string, paid timestamp"


def codes_of(receipts):
    codes = F.explode(F.split("codes", ",")).alias("code")
    return receipts.select("shop", codes, "receipt").withColumn("code", F.upper(F.trim("code"))).where("code <> ''")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    receipts = spark.readStream.schema(SCHEMA).json(f"{LAKE}/receipts").withWatermark("paid", "30 minutes")
    once = receipts.dropDuplicates(["receipt", "paid"])
    counted = codes_of(once).groupBy("shop", "code").agg(F.count("*").alias("times"), F.max("receipt").alias("last"))
    return counted.writeStream.outputMode("update").foreachBatch(publish)
