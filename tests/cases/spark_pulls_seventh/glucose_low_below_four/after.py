import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "patient string, sensor string, mmol double, measured timestamp"
OUTPUT = "patient string, readings long, lows long, lowest double, alarm boolean"
STATE = "readings long, lows long, lowest double"
LOW = 4.0


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    readings, lows, lowest = state.get if state.exists else (0, 0, 99.0)
    for frame in frames:
        readings += len(frame)
        lows += int((frame["mmol"] < LOW).sum())
        lowest = min(lowest, float(frame["mmol"].min()))
    state.update((readings, lows, lowest))
    yield pd.DataFrame(
        {"patient": [key[0]], "readings": [readings], "lows": [lows], "lowest": [lowest], "alarm": [lows >= 3]}
    )


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/glucose_of_patients").where("mmol < 35 AND patient > ''")
    once = read.withWatermark("measured", "1 hour").dropDuplicates(["patient", "sensor", "measured"])
    patients = once.groupBy("patient").applyInPandasWithState(
        follow, OUTPUT, STATE, "update", GroupStateTimeout.NoTimeout
    )
    return patients.writeStream.outputMode("update").foreachBatch(publish)
