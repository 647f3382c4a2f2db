import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
STORE = "spark.sql.streaming.stateStore"
SETTINGS = {"providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}
SCHEMA = "sensor string, room string, humidity double, co2 int, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    for name, value in SETTINGS.items():
        spark.conf.set(f"{STORE}.{name}", value)
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/air_of_rooms").withWatermark("measured", "20 minutes")
    once = read.dropDuplicates(["sensor", "measured"])
    rooms = once.groupBy(F.session_window("measured", "12 minutes"), "room").agg(
        F.avg("humidity").alias("humidity"), F.max("co2").alias("co2"), F.count("*").alias("readings")
    )
    return rooms.writeStream.outputMode("append").foreachBatch(publish)
