import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "message_id string, fire_id string, tower string, smoke int, seen timestamp"


def alarms(df):
    return df.filter("smoke >= 3").filter(F.col("fire_id").isNotNull())


def build(spark):
    messages = spark.readStream.schema(SCHEMA).json(f"{LAKE}/forest_towers")
    return (
        messages.transform(alarms)
        .dropDuplicates(["fire_id"])
        .select("message_id", "fire_id", "tower", "smoke", "seen")
        .writeStream.outputMode("append")
        .format("parquet")
        .option("path", f"{LAKE}/out/forest_alarms")
    )
