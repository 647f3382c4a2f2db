import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import LongType, StringType, StructField, StructType

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "incubator string, tray int, eggs int, hatched int, checked timestamp"
STATE = StructType([StructField("eggs", LongType()), StructField("checks", LongType())])
OUTPUT = StructType(
    [StructField("incubator", StringType()), StructField("eggs", LongType()), StructField("checks", LongType())]
)


class Trays(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", STATE)

    def handleInputRows(self, key, rows, timerValues) -> Iterator[pd.DataFrame]:
        eggs, checks = self.total.get() if self.total.exists() else (0, 0)
        for frame in rows:
            eggs += int(frame["eggs"].fillna(0).sum())
            checks += len(frame)
        self.total.update((eggs, checks))
        yield pd.DataFrame({"incubator": [key[0]], "eggs": [eggs], "checks": [checks]})

    def close(self) -> None:
        pass


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    checked = spark.readStream.schema(SCHEMA).json(f"{LAKE}/incubators").filter("incubator IS NOT NULL")
    incubators = checked.groupBy("incubator").transformWithStateInPandas(
        statefulProcessor=Trays(), outputStructType=OUTPUT, outputMode="Update", timeMode="None"
    )
    return incubators.writeStream.outputMode("update").foreachBatch(publish)
