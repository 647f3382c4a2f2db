import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "machine string, patient string, pressure double, at timestamp"
OUTPUT = "patient string, readings long, lows long, lowest double, alarm boolean"
STATE = "readings long, lows long, lowest double"
ALARM = 2


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    readings, lows, lowest = state.get if state.exists else (0, 0, 999.0)
    for frame in frames:
        readings += len(frame)
        lows += int((frame["pressure"] < 90).sum())
        lowest = min(lowest, float(frame["pressure"].min()))
    state.update((readings, lows, lowest))
    yield pd.DataFrame(
        {"patient": [key[0]], "readings": [readings], "lows": [lows], "lowest": [lowest], "alarm": [lows >= ALARM]}
    )


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/treatments").where("pressure > 0 AND patient IS NOT NULL")
    once = read.withWatermark("at", "30 minutes").dropDuplicatesWithinWatermark(["machine", "at"])
    patients = once.groupBy("patient").applyInPandasWithState(
        follow, OUTPUT, STATE, "append", GroupStateTimeout.NoTimeout
    )
    return patients.writeStream.outputMode("append").foreachBatch(publish)
