import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bet_id string, table_code string, stake double, placed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bets = spark.readStream.schema(SCHEMA).json(f"{LAKE}/casino_bets").withWatermark("placed", "10 minutes")
    games = (
        bets.withColumn("game", F.regexp_extract("table_code", r"^([A-Z]+)-\d+$", 1))
        .groupBy(F.window("placed", "20 minutes"), "game")
        .agg(F.sum("stake").alias("stakes"), F.count("*").alias("bets"))
    )
    return games.select("window.*", "game", "stakes", "bets").writeStream.outputMode("append").foreachBatch(publish)
