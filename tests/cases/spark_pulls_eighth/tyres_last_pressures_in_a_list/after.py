import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "vehicle string, wheel string, bar double, measured timestamp"
OUTPUT = "vehicle string, wheels int, lowest double, spread double"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Pressures(StatefulProcessor):
    """The pressure that each wheel of a vehicle had last."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.last = handle.getListState("last", "wheel string, bar double")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        known = dict(self.last.get())
        for row in rows:
            known[row.wheel] = row.bar
        self.last.put(list(known.items()))
        bars = list(known.values())
        yield Row(vehicle=key[0], wheels=len(bars), lowest=min(bars), spread=max(bars) - min(bars))

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/wheel_pressures").where("wheel IS NOT NULL AND bar > 0")
    once = read.withWatermark("measured", "30 minutes").dropDuplicatesWithinWatermark(["vehicle", "wheel", "measured"])
    vehicles = once.groupBy("vehicle").transformWithState(Pressures(), OUTPUT, "Append", "None")
    return vehicles.writeStream.outputMode("append").foreachBatch(publish)
