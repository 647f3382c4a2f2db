import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
STOPS = "turbine string, reason string, stopped timestamp"
STARTS = "started_turbine string, crew string, started timestamp"
RANGE = "turbine = started_turbine AND started BETWEEN stopped AND stopped + INTERVAL 30 MINUTES"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.codegen.wholeStage", "true")
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    stops = spark.readStream.schema(STOPS).json(f"{LAKE}/turbine_stops").withWatermark("stopped", "15 minutes")
    stops = stops.fillna({"reason": "none"})
    starts = spark.readStream.schema(STARTS).json(f"{LAKE}/turbine_starts").withWatermark("started", "15 minutes")
    repaired = stops.join(starts, F.expr(RANGE), "full_outer")
    shown = repaired.select(
        F.coalesce("turbine", "started_turbine").alias("turbine"), "reason", "crew", "stopped", "started"
    )
    return shown.writeStream.outputMode("append").foreachBatch(publish)
