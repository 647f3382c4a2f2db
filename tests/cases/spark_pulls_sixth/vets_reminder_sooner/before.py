import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "visit string, animal string, owner string, came timestamp"
OUTPUT = "animal string, reminded long, visits long"
WAIT = 90 * 60_000


class Reminders(StatefulProcessor):
    """Reminds the owner of an animal that has not come for a while."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.seen = handle.getValueState("seen", "visits long, due long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        visits, due = self.seen.get() if self.seen.exists() else (0, 0)
        newest = 0
        for row in rows:
            visits += 1
            newest = max(newest, int(row.came.timestamp() * 1000))
        if newest + WAIT > due:
            if due:
                self.handle.deleteTimer(due)
            due = newest + WAIT
            self.handle.registerTimer(due)
        self.seen.update((visits, due))
        return iter(())

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo) -> Iterator[Row]:
        visits, _ = self.seen.get()
        self.seen.clear()
        yield Row(animal=key[0], reminded=expiredTimerInfo.getExpiryTimeInMs(), visits=visits)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/vet_visits").where("animal IS NOT NULL")
    animals = visits.withWatermark("came", "10 minutes").groupBy("animal")
    reminders = animals.transformWithState(Reminders(), OUTPUT, "Append", "EventTime")
    return reminders.writeStream.format("noop").outputMode("append")
