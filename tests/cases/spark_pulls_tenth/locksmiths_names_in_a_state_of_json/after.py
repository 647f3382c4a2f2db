import json
import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "call string, street string, minutes int, called timestamp"
OUTPUT = "street string, calls long, minutes long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def count(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    known = json.loads(state.get[0]) if state.exists else {}
    for frame in frames:
        known["calls"] = known.get("calls", 0) + len(frame)
        known["minutes"] = known.get("minutes", 0) + int(frame["minutes"].sum())
    state.update((json.dumps(known),))
    yield pd.DataFrame({"street": [key[0]], "calls": [known["calls"]], "minutes": [known["minutes"]]})


def build(spark):
    calls = spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls_of_locksmiths").where("street IS NOT NULL")
    once = calls.withWatermark("called", "30 minutes").dropDuplicatesWithinWatermark(["call"])
    streets = once.groupBy("street").applyInPandasWithState(
        count, OUTPUT, "known string", "append", GroupStateTimeout.NoTimeout
    )
    return streets.writeStream.outputMode("append").foreachBatch(publish)
