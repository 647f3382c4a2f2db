import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ENTRIES = "plate string, tube string, entered timestamp"
EXITS = "plate string, speed int, exited timestamp"
NEAR = "exited BETWEEN entered AND entered + INTERVAL 15 MINUTES"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    entries = spark.readStream.schema(ENTRIES).json(f"{LAKE}/tunnel_entries").withWatermark("entered", "20 minutes")
    exits = spark.readStream.schema(EXITS).json(f"{LAKE}/tunnel_exits").withWatermark("exited", "20 minutes")
    keys = ["plate"]
    passed = entries.join(exits, keys).where(NEAR)
    tubes = passed.groupBy(F.window("exited", "30 minutes"), "tube").agg(
        F.count("*").alias("vehicles"), F.avg("speed").alias("speed"), F.max("speed").alias("fastest")
    )
    return tubes.writeStream.outputMode("append").foreachBatch(publish)
