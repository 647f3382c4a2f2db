import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "city string, signal string, seconds int, switched timestamp"
OUTPUT = "city string, signal string, switches long, red long"
STATE = "switches long, red long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    city, signal = key
    switches, red = state.get if state.exists else (0, 0)
    for frame in frames:
        switches += len(frame)
        red += int(frame["seconds"].fillna(0).sum())
    state.update((switches, red))
    yield pd.DataFrame({"city": [city], "signal": [signal], "switches": [switches], "red": [red]})


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/signals").where("city IS NOT NULL AND signal IS NOT NULL")
    once = read.withWatermark("switched", "20 minutes").dropDuplicatesWithinWatermark(["city", "signal", "switched"])
    signals = once.groupBy("city", "signal").applyInPandasWithState(
        follow, OUTPUT, STATE, "append", GroupStateTimeout.NoTimeout
    )
    return signals.writeStream.outputMode("append").foreachBatch(publish)
