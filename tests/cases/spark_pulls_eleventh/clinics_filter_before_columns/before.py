import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
VISIT = "visit string, clinic string, status string, arrived timestamp, called timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    visits = spark.readStream.schema(VISIT).json(f"{LAKE}/clinic_visits")
    waits = (
        visits.withColumn("clinic", F.upper(F.trim("clinic")))
        .withColumn("wait", F.expr("(unix_timestamp(called) - unix_timestamp(arrived)) / 60"))
        .withWatermark("arrived", "30 minutes")
        .groupBy(F.window("arrived", "1 hour", "30 minutes"), "clinic", "status")
        .agg(F.avg("wait").alias("mean_wait"), F.max("wait").alias("longest_wait"), F.count("wait").alias("visits"))
        .filter("status = 'seen'")
        .filter(F.col("clinic").isNotNull())
        .drop("status")
    )
    return waits.writeStream.outputMode("append").foreachBatch(publish)
