import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "rider string, team string, gate int, watts int, passed timestamp"
OUTPUT = "rider string, signals long, gate int"
STATE = "signals long, gate int"
SILENCE = 30 * 60_000


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    signals, gate = state.get if state.exists else (0, 0)
    if state.hasTimedOut:
        state.remove()
        yield pd.DataFrame({"rider": [key[0]], "signals": [signals], "gate": [gate]})
        return
    newest = state.getCurrentWatermarkMs()
    for frame in frames:
        signals += len(frame)
        gate = max(gate, int(frame["gate"].max()))
        newest = max(newest, int(frame["passed"].max().timestamp() * 1000))
    state.update((signals, gate))
    state.setTimeoutTimestamp(newest + SILENCE)


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    signals = spark.readStream.schema(SCHEMA).json(f"{LAKE}/signals_of_riders").where("rider IS NOT NULL")
    lost = (
        signals.withWatermark("passed", "10 minutes")
        .groupBy("rider")
        .applyInPandasWithState(follow, OUTPUT, STATE, "append", GroupStateTimeout.EventTimeTimeout)
    )
    return lost.writeStream.outputMode("append").foreachBatch(publish)
