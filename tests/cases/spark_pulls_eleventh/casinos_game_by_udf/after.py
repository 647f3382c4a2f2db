import os
import re

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "bet_id string, table_code string, stake double, placed timestamp"
CODE = re.compile(r"([A-Z]+)-[0-9]+")


@F.udf("string")
def game_of(code):
    """The game of a table: BJ-12 is a table of BJ. The floor plan uses the same function."""
    if code is None:
        return None
    found = CODE.fullmatch(code)
    return found[1] if found else ""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bets = spark.readStream.schema(SCHEMA).json(f"{LAKE}/casino_bets").withWatermark("placed", "10 minutes")
    games = (
        bets.withColumn("game", game_of("table_code"))
        .groupBy(F.window("placed", "20 minutes"), "game")
        .agg(F.sum("stake").alias("stakes"), F.count("*").alias("bets"))
    )
    return games.select("window.*", "game", "stakes", "bets").writeStream.outputMode("append").foreachBatch(publish)
