import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "device string, site string, temp double, humidity int, state string, ts timestamp"


def readings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    readings(spark).withWatermark("ts", "5 minutes").createOrReplaceTempView("readings")
    stats = spark.sql("""
        SELECT window(ts, '5 minutes') AS w, site, avg(temp) AS avg_temp, max(humidity) AS max_hum
        FROM readings WHERE state <> 'FAULT'
        GROUP BY window(ts, '5 minutes'), site
    """)
    return stats.writeStream.outputMode("append").foreachBatch(publish)
