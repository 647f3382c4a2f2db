import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "message string, forklift string, hall string, metres int, reported timestamp"
OUTPUT = "forklift string, km double, halls int, service boolean"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Tracker(StatefulProcessor):
    """How far a vehicle has gone."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.metres = handle.getValueState("metres", "total long")

    def drive(self, metres: int) -> int:
        total = metres + (self.metres.get()[0] if self.metres.exists() else 0)
        self.metres.update((total,))
        return total

    def close(self) -> None:
        pass


class Service(Tracker):
    """How far a forklift has gone, and in which halls."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        super().init(handle)
        self.halls = handle.getMapState("halls", "hall string", "times long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        metres = 0
        for row in rows:
            metres += row.metres or 0
            hall = (row.hall or "?",)
            times = self.halls.getValue(hall)[0] if self.halls.containsKey(hall) else 0
            self.halls.updateValue(hall, (times + 1,))
        total = self.drive(metres)
        halls = len(list(self.halls.keys()))
        yield Row(forklift=key[0], km=total / 1000, halls=halls, service=total > 2500)


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    reports = spark.readStream.schema(SCHEMA).json(f"{LAKE}/forklift_reports").where("forklift IS NOT NULL")
    once = reports.withWatermark("reported", "1 hour").dropDuplicatesWithinWatermark(["message"])
    due = once.groupBy("forklift").transformWithState(Service(), OUTPUT, "Append", "None")
    return due.writeStream.outputMode("append").foreachBatch(publish)
