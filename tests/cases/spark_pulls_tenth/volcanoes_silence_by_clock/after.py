import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "reading string, station string, tremor double, measured timestamp"
OUTPUT = "station string, readings long, tremor double"
STATE = "readings long, tremor double"
SILENCE = 30 * 60_000


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    readings, tremor = state.get if state.exists else (0, 0.0)
    if state.hasTimedOut:
        state.remove()
        yield pd.DataFrame({"station": [key[0]], "readings": [readings], "tremor": [tremor]})
        return
    for frame in frames:
        readings += len(frame)
        tremor = max(tremor, float(frame["tremor"].fillna(0.0).max()))
    state.update((readings, tremor))
    state.setTimeoutDuration(SILENCE)


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/volcano_stations").where("station IS NOT NULL")
    once = read.withWatermark("measured", "10 minutes").dropDuplicatesWithinWatermark(["reading"])
    timeout = GroupStateTimeout.ProcessingTimeTimeout
    silent = once.groupBy("station").applyInPandasWithState(follow, OUTPUT, STATE, "append", timeout)
    return silent.writeStream.outputMode("append").foreachBatch(publish)
