import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "request string, route string, method string, status int, ms int, at timestamp"


def requests(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/requests")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    routes = (
        requests(spark)
        .groupBy("route", "method")
        .agg(F.count("*").alias("requests"), F.avg("ms").alias("ms"))
    )
    return routes.writeStream.outputMode("update").foreachBatch(publish)
