import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "machine string, ward string, pressure int, flow double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


@F.udf("string")
def ward_of(code):
    return code.strip().upper().removeprefix("WARD ") if code else None


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/dialysis_pressures").withWatermark("at", "10 minutes")
    once = read.dropDuplicatesWithinWatermark(["machine", "at"])
    wards = once.groupBy(F.window("at", "30 minutes"), ward_of("ward").alias("ward")).agg(
        F.avg("flow").alias("flow"), F.max("pressure").alias("pressure"), F.count("*").alias("n")
    )
    return wards.writeStream.outputMode("append").foreachBatch(publish)
