import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "sensor string, shaft string, methane double, measured timestamp"
LIMIT = 1.0
IN_A_ROW = 2


def watch(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    high, highest = state.get if state.exists else (0, 0.0)
    for frame in frames:
        for methane in frame.sort_values("measured")["methane"].dropna():
            high = high + 1 if methane > LIMIT else 0
            highest = max(highest, methane)
    state.update((high, highest))
    yield pd.DataFrame({"sensor": [key[0]], "high": [high], "highest": [highest], "alarm": [high >= IN_A_ROW]})


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    measured = spark.readStream.schema(SCHEMA).json(f"{LAKE}/mine_gas").filter("sensor IS NOT NULL")
    alarms = measured.groupBy("sensor").applyInPandasWithState(
        watch,
        outputStructType="sensor string, high long, highest double, alarm boolean",
        stateStructType="high long, highest double",
        outputMode="update",
        timeoutConf=GroupStateTimeout.NoTimeout,
    )
    return alarms.writeStream.outputMode("update").foreachBatch(publish)
