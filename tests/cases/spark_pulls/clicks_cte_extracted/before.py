import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "user_id string, session string, url string, event string, duration_ms long, agent string, ts timestamp"


def clicks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/clicks")


def build(spark):
    clicks(spark).createOrReplaceTempView("clicks")
    pages = spark.sql("""
        SELECT page, count(*) AS hits, sum(seconds) AS seconds FROM (
            SELECT lower(url) AS page, duration_ms / 1000 AS seconds
            FROM (SELECT * FROM clicks WHERE event = 'view') v
            WHERE duration_ms IS NOT NULL
        ) GROUP BY page
    """)
    return pages.writeStream.outputMode("update").queryName("pages").format("console")
