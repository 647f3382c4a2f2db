import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "game string, white string, black string, result string, played timestamp"
WIN = 3


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def points(games):
    white = F.expr(f"CASE result WHEN '1-0' THEN {WIN} WHEN '0-1' THEN 0 ELSE 1 END")
    black = F.expr(f"CASE result WHEN '0-1' THEN {WIN} WHEN '1-0' THEN 0 ELSE 1 END")
    players = F.array(
        F.struct(F.col("white").alias("player"), white.alias("points")),
        F.struct(F.col("black").alias("player"), black.alias("points")),
    )
    return games.select("played", F.inline(players)).where("player IS NOT NULL")


def build(spark):
    games = spark.readStream.schema(SCHEMA).json(f"{LAKE}/league_games").where("result IS NOT NULL")
    once = games.withWatermark("played", "30 minutes").dropDuplicatesWithinWatermark(["game"])
    table = (
        points(once)
        .groupBy(F.window("played", "3 hours"), "player")
        .agg(F.sum("points").alias("points"), F.count("*").alias("games"))
    )
    return table.writeStream.outputMode("append").foreachBatch(publish)
