import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "passage string, tube string, plate string, speed int, passed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    passed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/tunnel_passages").withWatermark("passed", "20 minutes")
    fast = passed.where("speed > 80").dropDuplicatesWithinWatermark(["passage"])
    vehicle = F.struct("passed", "plate", "speed")
    tubes = fast.groupBy(F.window("passed", "1 hour"), "tube").agg(
        F.count("*").alias("n"), F.sort_array(F.collect_list(vehicle)).alias("vehicles")
    )
    return tubes.writeStream.outputMode("append").foreachBatch(publish)
