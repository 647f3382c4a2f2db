import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "user_id string, session string, url string, event string, duration_ms long, agent string, ts timestamp"


def clicks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/clicks")


def build(spark):
    clicks(spark).createOrReplaceTempView("clicks")
    pages = spark.sql("""
        WITH views AS (
            SELECT url, duration_ms FROM clicks WHERE event = 'view' AND duration_ms IS NOT NULL
        ), timed AS (
            SELECT lower(url) AS page, duration_ms / 1000 AS seconds FROM views
        )
        SELECT page, count(*) AS hits, sum(seconds) AS seconds FROM timed GROUP BY page
    """)
    return pages.writeStream.outputMode("update").queryName("pages").format("console")
