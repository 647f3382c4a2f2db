import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "game string, player string, pins int, bowled timestamp"
WITH_TRAINING = True


def rolls(spark, name):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/{name}").withWatermark("bowled", "30 minutes")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    training = rolls(spark, "training").where(F.lit(WITH_TRAINING)).dropDuplicates(["game", "bowled"])
    league = rolls(spark, "league").where("game IS NOT NULL")
    players = (
        league.unionByName(training)
        .groupBy("player")
        .agg(F.sum("pins").alias("pins"), F.count("*").alias("rolls"), F.max("bowled").alias("last"))
    )
    return players.writeStream.outputMode("update").foreachBatch(publish)
