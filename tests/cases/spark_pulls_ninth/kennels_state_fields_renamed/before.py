import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "walk string, dog string, km double, walked timestamp"
OUTPUT = "dog string, walks long, km double"
STATE = "n long, d double"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def follow(key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    n, d = state.get if state.exists else (0, 0.0)
    for frame in frames:
        n += len(frame)
        d += float(frame["km"].fillna(0.0).sum())
    state.update((n, d))
    yield pd.DataFrame({"dog": [key[0]], "walks": [n], "km": [d]})


def build(spark):
    walks = spark.readStream.schema(SCHEMA).json(f"{LAKE}/walks_of_dogs").where("dog IS NOT NULL")
    once = walks.withWatermark("walked", "20 minutes").dropDuplicatesWithinWatermark(["walk"])
    dogs = once.groupBy("dog").applyInPandasWithState(follow, OUTPUT, STATE, "append", GroupStateTimeout.NoTimeout)
    return dogs.writeStream.outputMode("append").foreachBatch(publish)
