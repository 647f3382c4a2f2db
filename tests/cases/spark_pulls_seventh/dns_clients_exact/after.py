import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "query string, client string, name string, zone string, asked timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def clients():
    return F.size(F.collect_set("client")).cast("long")


def build(spark):
    queries = spark.readStream.schema(SCHEMA).json(f"{LAKE}/dns_clients").withWatermark("asked", "10 minutes")
    parts = queries.groupBy(F.window("asked", "10 minutes"), "zone").agg(
        clients().alias("clients"), F.count("*").alias("queries")
    )
    hours = parts.groupBy(F.window(F.window_time("window"), "1 hour"), "zone").agg(
        F.max("clients").alias("most"), F.sum("queries").alias("queries")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
