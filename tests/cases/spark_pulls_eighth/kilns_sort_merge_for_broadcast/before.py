import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "firing string, kiln string, programme string, kwh double, ended timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    programmes = spark.read.schema("programme string, glaze string, budget double").json(f"{LAKE}/programmes")
    firings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/kiln_firings").withWatermark("ended", "30 minutes")
    once = firings.dropDuplicatesWithinWatermark(["firing"])
    known = once.join(F.broadcast(programmes), "programme", "left")
    glazes = known.groupBy(F.window("ended", "2 hours"), F.coalesce("glaze", F.lit("none")).alias("glaze")).agg(
        F.sum("kwh").alias("kwh"), F.sum(F.col("kwh") - F.col("budget")).alias("over"), F.count("*").alias("firings")
    )
    return glazes.writeStream.outputMode("append").foreachBatch(publish)
