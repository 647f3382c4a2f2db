import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "robot string, code int, level int, raised timestamp"


def build(spark):
    options = {"kafka.bootstrap.servers": BROKER, "subscribe": "robot-events", "startingOffsets": "earliest"}
    events = spark.readStream.format("kafka").options(**options).load()
    parsed = events.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("event")).select("event.*")
    alarms = parsed.where("level >= 3").withColumn("class", F.when(F.col("code") < 100, "drive").otherwise("arm"))
    value = F.to_json(F.struct("robot", "class", "code", "raised"))
    return (
        alarms.select(F.col("robot").alias("key"), value.alias("value"))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", "robot-alarms")
    )
