import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "user_id string, session string, url string, event string, duration_ms long, agent string, ts timestamp"


def clicks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/clicks")

OUTPUT = "user_id string, clicks long, ms long"
STATE = "clicks long, ms long, last string"


def visit(key: tuple, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    clicks, ms, last = state.get if state.exists else (0, 0, "")
    for frame in frames:
        clicks += len(frame)
        last = frame["url"].iloc[-1]
        ms += int(frame["duration_ms"].fillna(0).sum())
    state.update((clicks, ms, last))
    yield pd.DataFrame({"user_id": [key[0]], "clicks": [clicks], "ms": [ms]})


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    visits = clicks(spark).groupBy("user_id").applyInPandasWithState(
        visit, OUTPUT, STATE, "update", GroupStateTimeout.NoTimeout
    )
    return visits.writeStream.outputMode("update").foreachBatch(publish)
