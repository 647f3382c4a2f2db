import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SALE = "van string, flavour string, scoops int, sold timestamp"
OPTIONS = {
    "kafka.bootstrap.servers": BROKER,
    "subscribe": "ice-sales",
    "startingOffsets": "earliest",
}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def sales(spark):
    records = spark.readStream.format("kafka").options(**OPTIONS).load()
    return records.select(F.from_json(F.decode("value", "utf-8"), SALE).alias("sale")).select("sale.*")


def build(spark):
    vans = (
        sales(spark)
        .withWatermark("sold", "20 minutes")
        .groupBy(F.window("sold", "1 hour"), "van")
        .agg(F.sum("scoops").alias("scoops"), F.max_by("flavour", "scoops").alias("favourite"))
    )
    return vans.writeStream.outputMode("append").foreachBatch(publish)
