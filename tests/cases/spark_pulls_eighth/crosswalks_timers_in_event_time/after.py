import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "crosswalk string, button string, waited int, pressed timestamp"
OUTPUT = "crosswalk string, presses long, longest int"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Presses(StatefulProcessor):
    """How often the buttons of a crosswalk were pressed, and the longest wait."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.known = handle.getValueState("known", "presses long, longest int")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        presses, longest = self.known.get() if self.known.exists() else (0, 0)
        for row in rows:
            presses += 1
            longest = max(longest, row.waited or 0)
        self.known.update((presses, longest))
        for due in list(self.handle.listTimers()):
            self.handle.deleteTimer(due)
        self.handle.registerTimer(timerValues.getCurrentWatermarkInMs() + 3_600_000)
        yield Row(crosswalk=key[0], presses=presses, longest=longest)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo) -> Iterator[Row]:
        self.known.clear()
        return iter(())

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    presses = spark.readStream.schema(SCHEMA).json(f"{LAKE}/button_presses").where("crosswalk IS NOT NULL")
    once = presses.withWatermark("pressed", "10 minutes").dropDuplicatesWithinWatermark(["crosswalk", "pressed"])
    crosswalks = once.groupBy("crosswalk").transformWithState(Presses(), OUTPUT, "Append", "EventTime")
    return crosswalks.writeStream.outputMode("append").foreachBatch(publish)
