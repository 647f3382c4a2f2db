import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "machine string, drink string, seconds double, grams double, brewed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    shots = spark.readStream.schema(SCHEMA).json(f"{LAKE}/coffee_shots").where("drink <> 'rinse'")
    once = shots.withWatermark("brewed", "10 minutes").dropDuplicatesWithinWatermark(["machine", "brewed"])
    rushes = once.groupBy(F.session_window("brewed", "10 minutes"), "machine").agg(
        F.kurtosis("seconds").alias("shape"), F.avg("grams").alias("grams"), F.count("*").alias("shots")
    )
    return rushes.writeStream.outputMode("append").foreachBatch(publish)
