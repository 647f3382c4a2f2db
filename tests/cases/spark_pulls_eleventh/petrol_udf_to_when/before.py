import os

from pyspark.sql import functions as F
from pyspark.sql.types import StringType

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "station string, pump int, code string, litres double, filled_at timestamp"


@F.udf(returnType=StringType())
def fuel_group(code):
    if code is not None and code.startswith("D"):
        return "diesel"
    if code in ("E5", "E10", "S98"):
        return "petrol"
    return "other"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    fills = spark.readStream.schema(SCHEMA).json(f"{LAKE}/petrol_fills")
    groups = (
        fills.withColumn("fuel", fuel_group("code"))
        .groupBy("station", "fuel")
        .agg(F.sum("litres").alias("litres"), F.count("*").alias("fills"))
    )
    return groups.writeStream.outputMode("update").foreachBatch(publish)
