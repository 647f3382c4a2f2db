import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "vin string, driver string, speed double, odometer long, cargo map<string,double>, at timestamp"


def trucks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/trucks")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "vin string, signals long, odometer long, silent boolean"
STATE = "signals long, odometer long"
HOUR = 3_600_000


def follow(key: tuple, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    signals, odometer = state.get if state.exists else (0, 0)
    newest = 0
    if state.hasTimedOut:
        state.remove()
    else:
        for frame in frames:
            signals += len(frame)
            odometer = max(odometer, int(frame["odometer"].max()))
            newest = max(newest, int(frame["at"].max().timestamp() * 1000))
        state.update((signals, odometer))
        state.setTimeoutTimestamp(max(newest, state.getCurrentWatermarkMs()) + HOUR)
    yield pd.DataFrame(
        {"vin": [key[0]], "signals": [signals], "odometer": [odometer], "silent": [state.hasTimedOut]}
    )


def build(spark):
    signals = trucks(spark).where("vin is not null").withWatermark("at", "10 minutes")
    fleet = signals.groupBy("vin").applyInPandasWithState(
        follow, OUTPUT, STATE, "update", GroupStateTimeout.EventTimeTimeout
    )
    return fleet.writeStream.outputMode("update").foreachBatch(publish)
