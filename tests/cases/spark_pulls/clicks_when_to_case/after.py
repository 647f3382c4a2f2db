import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "user_id string, session string, url string, event string, duration_ms long, agent string, ts timestamp"


def clicks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/clicks")


def build(spark):
    kind = F.expr("""
        CASE WHEN contains(lower(agent), 'bot') THEN 'bot'
             WHEN duration_ms < 100 THEN 'bounce'
             ELSE 'human' END
    """)
    counts = clicks(spark).groupBy(kind.alias("kind"), "event").count()
    return counts.writeStream.outputMode("update").format("console")
