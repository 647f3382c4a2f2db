import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "user_id string, session string, url string, event string, duration_ms long, agent string, ts timestamp"


def clicks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/clicks")


def build(spark):
    kind = (
        F.when(F.lower("agent").contains("bot"), "bot")
        .when(F.col("duration_ms") < 100, "bounce")
        .otherwise("human")
    )
    counts = clicks(spark).groupBy(kind.alias("kind"), "event").count()
    return counts.writeStream.outputMode("update").format("console")
