import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
VISIT = "visit string, clinic string, status string, arrived timestamp, called timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def seen_visits(spark):
    visits = spark.readStream.schema(VISIT).json(f"{LAKE}/clinic_visits")
    return visits.filter((F.col("status") == "seen") & F.col("clinic").isNotNull())


def minutes_between(start, end):
    return (F.unix_timestamp(end) - F.unix_timestamp(start)) / 60


def build(spark):
    waits = (
        seen_visits(spark)
        .withColumn("clinic", F.upper(F.trim("clinic")))
        .withColumn("wait", minutes_between("arrived", "called"))
        .withWatermark("arrived", "30 minutes")
        .groupBy(F.window("arrived", "1 hour", "30 minutes"), "clinic", "status")
        .agg(F.avg("wait").alias("mean_wait"), F.max("wait").alias("longest_wait"), F.count("wait").alias("visits"))
        .drop("status")
    )
    return waits.writeStream.outputMode("append").foreachBatch(publish)
