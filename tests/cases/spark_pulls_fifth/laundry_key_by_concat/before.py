import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "item string, customer string, site string, step string, kg decimal(6,2), scanned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    scans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans").where("step = 'in' OR step = 'wash'")
    account = F.concat_ws("/", "customer", "site")
    accounts = (
        scans.withColumn("account", F.lower(account))
        .groupBy("account")
        .agg(F.sum("kg").alias("kg"), F.count("*").alias("scans"))
    )
    return accounts.writeStream.outputMode("update").foreachBatch(publish)
