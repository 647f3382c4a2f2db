import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
APPOINTMENTS = "appointment string, dentist string, patient string, state string, minutes int, at timestamp"
VISITS = "visit_of string, chair int, seconds int, began timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def booked(spark):
    rows = spark.readStream.schema(APPOINTMENTS).json(f"{LAKE}/appointments").withWatermark("at", "20 minutes")
    return rows.filter(F.col("state").isin("booked", "moved")).select("appointment", "dentist", "at")


def visits(spark):
    return spark.readStream.schema(VISITS).json(f"{LAKE}/visits").withWatermark("began", "20 minutes")


def build(spark):
    in_time = F.col("began").between(F.expr("at - INTERVAL 10 MINUTES"), F.expr("at + INTERVAL 90 MINUTES"))
    met = booked(spark).join(visits(spark), (F.col("appointment") == F.col("visit_of")) & in_time)
    waited = F.unix_timestamp("began") - F.unix_timestamp("at")
    waits = met.select("dentist", "appointment", "chair", waited.alias("waited"))
    return waits.writeStream.outputMode("append").foreachBatch(publish)
