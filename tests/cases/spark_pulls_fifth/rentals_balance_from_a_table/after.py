import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "rental string, tool string, member string, deposit int, taken timestamp"
OUTPUT = "member string, deposits long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Deposits(StatefulProcessor):
    """What a member has paid as deposits."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.paid = handle.getValueState("paid", "deposits long")

    def handleInitialState(self, key, initialState, timerValues) -> None:
        self.paid.update((int(initialState["deposits"].iloc[0]),))

    def handleInputRows(self, key, rows, timerValues) -> Iterator[pd.DataFrame]:
        paid = self.paid.get()[0] if self.paid.exists() else 0
        for frame in rows:
            paid += int(frame["deposit"].fillna(0).sum())
        self.paid.update((paid,))
        yield pd.DataFrame({"member": [key[0]], "deposits": [paid]})

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    rentals = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rentals").select("member", "deposit")
    known = spark.read.schema("member string, deposits long").json(f"{LAKE}/balances").groupBy("member")
    members = rentals.groupBy("member").transformWithStateInPandas(
        statefulProcessor=Deposits(),
        outputStructType=OUTPUT,
        outputMode="Update",
        timeMode="None",
        initialState=known,
    )
    return members.writeStream.outputMode("update").foreachBatch(publish)
