import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "rental string, tool string, member string, deposit int, taken timestamp"
OUTPUT = "member string, rentals long, tool string"
STATE = "rentals long, newest timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def count(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    rentals, newest = state.get if state.exists else (0, None)
    tool = None
    for frame in frames:
        rentals += len(frame)
        last = frame.sort_values("taken").iloc[-1]
        tool, newest = last["tool"], max(filter(None, [newest, last["taken"].to_pydatetime()]))
    state.update((rentals, newest))
    yield pd.DataFrame({"member": [key[0]], "rentals": [rentals], "tool": [tool]})


def build(spark):
    rentals = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rentals").where("tool IS NOT NULL")
    members = rentals.groupBy("member").applyInPandasWithState(
        count, outputStructType=OUTPUT, stateStructType=STATE, outputMode="update", timeoutConf=GroupStateTimeout.NoTimeout
    )
    return members.writeStream.outputMode("update").foreachBatch(publish)
