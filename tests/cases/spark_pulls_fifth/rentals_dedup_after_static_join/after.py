import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "rental string, tool string, member string, deposit int, taken timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rentals = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rentals").withWatermark("taken", "30 minutes")
    tools = spark.read.schema("tool string, kind string, euros int").json(f"{LAKE}/tools")
    priced = rentals.join(F.broadcast(tools), "tool").dropDuplicatesWithinWatermark(["rental"])
    kinds = (
        priced.groupBy(F.window("taken", "1 hour"), "kind")
        .agg(F.sum("euros").alias("euros"), F.count("rental").alias("rentals"))
        .select("window.start", "kind", "euros", "rentals")
    )
    return kinds.writeStream.outputMode("append").foreachBatch(publish)
