import os

import pyarrow as pa
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "log string, mill string, knots int, meters double, sawn timestamp"


def graded(knots, meters):
    if knots is None or meters is None:
        return "unknown"
    return "clear" if knots < 1 else "sound" if knots / meters < 1 else "rough"


@F.arrow_udf("string")
def grade(knots: pa.Array, meters: pa.Array) -> pa.Array:
    return pa.array(map(graded, knots.to_pylist(), meters.to_pylist()), pa.string())


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    logs = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sawn_logs").withWatermark("sawn", "20 minutes")
    once = logs.dropDuplicatesWithinWatermark(["log"])
    grades = once.groupBy(F.window("sawn", "1 hour"), "mill", grade("knots", "meters").alias("grade")).agg(
        F.count("*").alias("logs"), F.sum("meters").alias("meters")
    )
    return grades.writeStream.outputMode("append").foreachBatch(publish)
