import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "visit string, sauna string, degrees int, minutes int, ended timestamp"
OPTIONS = {"maxFilesPerTrigger": 100}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    visits = spark.readStream.schema(SCHEMA).options(**OPTIONS).json(f"{LAKE}/sauna_visits")
    once = visits.withWatermark("ended", "20 minutes").dropDuplicatesWithinWatermark(["visit"])
    saunas = once.groupBy(F.window("ended", "1 hour"), F.upper("sauna").alias("sauna")).agg(
        F.count("*").alias("visits"), F.avg("minutes").alias("minutes"), F.max("degrees").alias("hottest")
    )
    return saunas.writeStream.outputMode("append").foreachBatch(publish)
