import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "item string, customer string, site string, step string, kg double, scanned timestamp"
OUTPUT = "item string, scans long, washes long"
STATE = "washes long, scans long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    washes, scans = state.get if state.exists else (0, 0)
    for frame in frames:
        scans += len(frame)
        washes += int((frame["step"] == "wash").sum())
    state.update((washes, scans))
    yield pd.DataFrame({"item": [key[0]], "scans": [scans], "washes": [washes]})


def build(spark):
    scans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans")
    items = scans.groupBy("item").applyInPandasWithState(
        follow, OUTPUT, STATE, "update", GroupStateTimeout.NoTimeout
    )
    return items.writeStream.outputMode("update").foreachBatch(publish)
