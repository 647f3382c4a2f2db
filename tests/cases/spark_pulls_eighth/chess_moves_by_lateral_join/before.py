import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "game string, white string, black string, moves array<string>, played timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    games = spark.readStream.schema(SCHEMA).json(f"{LAKE}/finished_games").withWatermark("played", "30 minutes")
    once = games.dropDuplicates(["game", "played"])
    moves = once.select("played", "white", F.explode("moves").alias("move"))
    openings = moves.groupBy(F.window("played", "1 hour"), "move").agg(
        F.count("*").alias("times"), F.approx_count_distinct("white").alias("players")
    )
    return openings.writeStream.outputMode("append").foreachBatch(publish)
