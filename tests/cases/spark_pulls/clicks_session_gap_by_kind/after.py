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
        .withWatermark("ts", "10 minutes")
        .groupBy("user_id", F.session_window("ts", F.expr("if(duration_ms < 50, '10 minutes', '2 minutes')")).alias("visit"))
        .agg(F.count("*").alias("n"), F.sum("duration_ms").alias("ms"))
    )
    return visits.writeStream.outputMode("append").foreachBatch(publish)
