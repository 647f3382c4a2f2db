import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "sitting string, candidate string, subject string, state string, points int, handed_in timestamp"


def counted(sittings):
    return sittings.where(F.col("subject").ilike("math%") & F.col("state").rlike(r"(?i)^ *(done|graded) *$"))


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sittings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sittings").withWatermark("handed_in", "15 minutes")
    hours = (
        counted(sittings)
        .dropDuplicatesWithinWatermark(["candidate", "subject"])
        .groupBy(F.window("handed_in", "1 hour"), "subject")
        .agg(F.avg("points").alias("mean"), F.stddev_samp("points").alias("spread"), F.count("*").alias("sittings"))
    )
    return (
        hours.select("window.start", "subject", "mean", "spread").writeStream.outputMode("append").foreachBatch(publish)
    )
