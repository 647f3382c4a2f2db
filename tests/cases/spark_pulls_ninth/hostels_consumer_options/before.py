import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "door string, house string, card string, opened timestamp"
OPTIONS = {"subscribe": "hostel-doors", "startingOffsets": "earliest"}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    records = spark.readStream.format("kafka").options(**OPTIONS).option("kafka.bootstrap.servers", BROKER).load()
    opened = records.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("o")).select("o.*")
    once = opened.withWatermark("opened", "10 minutes").dropDuplicatesWithinWatermark(["door", "card", "opened"])
    stays = once.groupBy(F.session_window("opened", "20 minutes"), "house").agg(
        F.count("*").alias("openings"), F.approx_count_distinct("card").alias("guests"), F.max("door").alias("door")
    )
    return stays.writeStream.outputMode("append").foreachBatch(publish)
