import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "user_id string, session string, url string, event string, duration_ms long, agent string, ts timestamp"


def clicks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/clicks")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Madrid")
    by_hour = clicks(spark).groupBy(F.date_format("ts", "HH").alias("hour")).agg(F.count("*").alias("n"))
    return by_hour.writeStream.outputMode("update").foreachBatch(publish)
