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


OUTPUT = "scooter string, pings long, zone string"
STATE = "pings int, zone string"


def follow(key: tuple, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    pings, zone = state.get if state.exists else (0, None)
    for frame in frames:
        pings += len(frame)
        zone = frame["zone"].iloc[-1] or zone
    state.update((pings, zone))
    yield pd.DataFrame({"scooter": [key[0]], "pings": [pings], "zone": [zone]})


def build(spark):
    scooters = pings(spark).groupBy("scooter").applyInPandasWithState(
        follow, OUTPUT, STATE, "update", GroupStateTimeout.NoTimeout
    )
    return scooters.writeStream.outputMode("update").foreachBatch(publish)
