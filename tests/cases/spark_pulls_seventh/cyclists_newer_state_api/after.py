import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "rider string, team string, gate int, watts int, passed timestamp"
OUTPUT = "rider string, signals long, gate int"
STATE = "signals long, gate int, due long"
SILENCE = 30 * 60_000


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Silence(StatefulProcessor):
    """Finds riders of whom nothing has been heard for half an hour."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.known = handle.getValueState("known", STATE)

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        signals, gate, due = self.known.get() if self.known.exists() else (0, 0, 0)
        newest = timerValues.getCurrentWatermarkInMs()
        for row in rows:
            signals += 1
            gate = max(gate, row.gate)
            newest = max(newest, int(row.passed.timestamp() * 1000))
        if due:
            self.handle.deleteTimer(due)
        due = newest + SILENCE
        self.handle.registerTimer(due)
        self.known.update((signals, gate, due))
        return iter(())

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo) -> Iterator[Row]:
        signals, gate, _ = self.known.get()
        self.known.clear()
        yield Row(rider=key[0], signals=signals, gate=gate)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    signals = spark.readStream.schema(SCHEMA).json(f"{LAKE}/signals_of_riders").where("rider IS NOT NULL")
    lost = (
        signals.withWatermark("passed", "10 minutes")
        .groupBy("rider")
        .transformWithState(Silence(), OUTPUT, "Append", "EventTime")
    )
    return lost.writeStream.outputMode("append").foreachBatch(publish)
