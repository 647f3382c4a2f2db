import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "message string, boat string, leg int, seconds int, touched boolean, rounded timestamp"
OUTPUT = "boat string, legs long, seconds long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Elapsed(StatefulProcessor):
    """The legs of a boat and its corrected seconds; touching a mark is a penalty."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.sailed = handle.getValueState("sailed", "legs long, seconds long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        legs, seconds = self.sailed.get() if self.sailed.exists() else (0, 0)
        for row in rows:
            legs += 1
            seconds += row.seconds or 0
            if row.touched:
                seconds += round((row.seconds or 0) / 20)
        self.sailed.update((legs, seconds))
        yield Row(boat=key[0], legs=legs, seconds=seconds)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    marks = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rounded_marks").where("boat IS NOT NULL")
    once = marks.withWatermark("rounded", "15 minutes").dropDuplicatesWithinWatermark(["message"])
    boats = once.groupBy("boat").transformWithState(Elapsed(), OUTPUT, "Append", "None")
    return boats.writeStream.outputMode("append").foreachBatch(publish)
