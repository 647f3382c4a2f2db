import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "game string, lane int, player string, pins int, bowled timestamp"
OUTPUT = "player string, rolls long, points long"
STATE = "rolls long, points long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def points(pins: int) -> int:
    return 15 if pins == 10 else pins


def score(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    rolls, total = state.get if state.exists else (0, 0)
    for frame in frames:
        rolls += len(frame)
        total += sum(points(int(pins)) for pins in frame["pins"])
    state.update((rolls, total))
    yield pd.DataFrame({"player": [key[0]], "rolls": [rolls], "points": [total]})


def build(spark):
    rolls = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rolls").where("player IS NOT NULL AND pins IS NOT NULL")
    players = (
        rolls.withWatermark("bowled", "1 hour")
        .dropDuplicates(["game", "lane", "player", "bowled"])
        .groupBy("player")
        .applyInPandasWithState(score, OUTPUT, STATE, "update", GroupStateTimeout.NoTimeout)
    )
    return players.writeStream.outputMode("update").foreachBatch(publish)
