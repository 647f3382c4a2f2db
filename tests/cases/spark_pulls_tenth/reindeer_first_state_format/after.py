import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "animal string, herd string, km double, at timestamp"
OUTPUT = "herd string, positions long, km double, restless boolean"
STATE = "positions long, km double"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    positions, km = state.get if state.exists else (0, 0.0)
    for frame in frames:
        positions += len(frame)
        km += float(frame["km"].sum())
    state.update((positions, km))
    yield pd.DataFrame({"herd": [key[0]], "positions": [positions], "km": [km], "restless": [km / positions > 2.0]})


def build(spark):
    spark.conf.set("spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion", "1")
    positions = spark.readStream.schema(SCHEMA).json(f"{LAKE}/positions_of_reindeer").dropna(subset=["herd"])
    herds = positions.groupBy("herd").applyInPandasWithState(
        follow, OUTPUT, STATE, "update", GroupStateTimeout.NoTimeout
    )
    return herds.writeStream.outputMode("update").foreachBatch(publish)
