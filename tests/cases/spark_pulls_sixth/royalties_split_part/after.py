import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "airplay string, recording string, station string, seconds int, aired timestamp"


def country(recording):
    return F.upper(F.split_part(recording, F.lit("-"), F.lit(1)))


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    airplays = spark.readStream.schema(SCHEMA).json(f"{LAKE}/airplays")
    rates = F.broadcast(spark.read.schema("country string, rate decimal(6,4)").json(f"{LAKE}/rates"))
    owed = (
        airplays.withColumn("country", country("recording"))
        .join(rates, "country", "left")
        .groupBy("country", "station")
        .agg(F.sum(F.col("seconds") * F.coalesce("rate", F.lit(0))).alias("owed"), F.count("*").alias("airplays"))
        .where("owed > 0")
    )
    return owed.writeStream.outputMode("update").foreachBatch(publish)
