import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "coil string, line string, heat double, mm double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.minDeltasForSnapshot", "5")
    coils = spark.readStream.schema(SCHEMA).json(f"{LAKE}/stops_of_lines").withWatermark("at", "10 minutes")
    runs = coils.dropDuplicates(["coil", "at"]).groupBy(F.session_window("at", "15 minutes"), "line").agg(
        F.count("*").alias("coils"), F.avg("heat").alias("heat")
    )
    return runs.writeStream.outputMode("append").foreachBatch(publish)
