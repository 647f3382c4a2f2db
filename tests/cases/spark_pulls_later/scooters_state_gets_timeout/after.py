import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "scooter string, zone string, battery int, state string, ts timestamp"


def pings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/pings")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "scooter string, pings long, weakest int"
STATE = "pings long, weakest int"


def follow(key: tuple, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    if state.hasTimedOut:
        state.remove()
        return
    pings, weakest = state.get if state.exists else (0, 100)
    for frame in frames:
        pings += len(frame)
        weakest = min(weakest, int(frame["battery"].fillna(100).min()))
    state.update((pings, weakest))
    state.setTimeoutDuration(86_400_000)
    yield pd.DataFrame({"scooter": [key[0]], "pings": [pings], "weakest": [weakest]})


def build(spark):
    scooters = pings(spark).groupBy("scooter").applyInPandasWithState(
        follow, OUTPUT, STATE, "update", GroupStateTimeout.ProcessingTimeTimeout
    )
    return scooters.writeStream.outputMode("update").foreachBatch(publish)
