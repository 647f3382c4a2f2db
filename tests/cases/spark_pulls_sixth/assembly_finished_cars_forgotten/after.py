import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "car string, station string, minutes int, left_at timestamp"
OUTPUT = "car string, stations long, minutes long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Progress(StatefulProcessor):
    """Stations that a car has passed, and the time they took."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.progress = handle.getValueState("progress", "stations long, minutes long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        stations, minutes = self.progress.get() if self.progress.exists() else (0, 0)
        finished = False
        for row in rows:
            stations += 1
            minutes += row.minutes or 0
            finished = finished or row.station == "exit"
        if finished:
            self.progress.clear()
        else:
            self.progress.update((stations, minutes))
        yield Row(car=key[0], stations=stations, minutes=minutes)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    passed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/stations").where("car IS NOT NULL")
    once = passed.withWatermark("left_at", "1 hour").dropDuplicates(["car", "station", "left_at"])
    cars = once.groupBy("car").transformWithState(Progress(), OUTPUT, "Update", "None")
    return cars.writeStream.outputMode("update").foreachBatch(publish)
