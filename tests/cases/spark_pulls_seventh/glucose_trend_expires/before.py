import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "patient string, sensor string, mmol double, measured timestamp"
OUTPUT = "patient string, mmol double, change double"
TIME = "None"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Trend(StatefulProcessor):
    """How far a value is from the one before."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.last = handle.getValueState("last", "mmol double")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        last = self.last.get()[0] if self.last.exists() else None
        for row in sorted(rows, key=lambda row: (row.measured, row.mmol)):
            yield Row(patient=key[0], mmol=row.mmol, change=None if last is None else row.mmol - last)
            last = row.mmol
        self.last.update((last,))

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/trends").where("mmol < 35 AND patient IS NOT NULL")
    patients = read.withWatermark("measured", "10 minutes").groupBy("patient")
    trends = patients.transformWithState(Trend(), OUTPUT, "Update", TIME)
    return trends.writeStream.outputMode("update").foreachBatch(publish)
