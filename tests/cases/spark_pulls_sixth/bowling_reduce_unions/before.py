import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "game string, lane int, player string, pins int, bowled timestamp"


def alley(spark, name):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/alley_{name}").withColumn("alley", F.lit(name))


def alleys(spark):
    return alley(spark, "park").unionByName(alley(spark, "river").unionByName(alley(spark, "arena")))


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rolls = alleys(spark).withWatermark("bowled", "15 minutes")
    evenings = (
        rolls.where("pins BETWEEN 0 AND 10")
        .groupBy(F.session_window("bowled", "15 minutes"), "alley", "lane")
        .agg(F.sum("pins").alias("pins"), F.count("*").alias("rolls"), F.collect_set("player").alias("players"))
        .withColumn("players", F.sort_array("players"))
    )
    return evenings.writeStream.outputMode("append").foreachBatch(publish)
