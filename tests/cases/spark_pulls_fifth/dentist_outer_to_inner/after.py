import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
APPOINTMENTS = "appointment string, dentist string, patient string, state string, minutes int, at timestamp"
VISITS = "visit_of string, chair int, seconds int, began timestamp"
HOW = "inner"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    appointments = (
        spark.readStream.schema(APPOINTMENTS).json(f"{LAKE}/appointments")
        .withWatermark("at", "15 minutes")
        .select("appointment", "dentist", "minutes", "at")
    )
    visits = spark.readStream.schema(VISITS).json(f"{LAKE}/visits").withWatermark("began", "15 minutes")
    condition = "appointment = visit_of AND began >= at AND began <= at + INTERVAL 1 HOUR"
    kept = appointments.join(visits, F.expr(condition), HOW)
    report = kept.select("appointment", "dentist", "at", "chair", (F.col("seconds") / 60).alias("took"), "minutes")
    return report.writeStream.outputMode("append").foreachBatch(publish)
