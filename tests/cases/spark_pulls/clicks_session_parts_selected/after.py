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
    visits = (
        clicks(spark)
        .withWatermark("ts", "5 minutes")
        .groupBy(F.session_window("ts", "5 minutes"), "user_id")
        .agg(F.count("*").alias("clicks"), F.sum("duration_ms").alias("ms"))
        .select("user_id", "session_window.start", "session_window.end", "clicks", (F.col("ms") / 1000).alias("seconds"))
    )
    return visits.writeStream.outputMode("append").foreachBatch(publish)
