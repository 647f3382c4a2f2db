import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

SCHEMA = "entry long, lawyer string, matter string, minutes int, rate decimal(10,2), kind string, day date, noted timestamp"


def entries(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/entries")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "lawyer string, entries long, minutes long, longest int"


class Workload(StatefulProcessor):
    """What a lawyer did, and the longest of it."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "entries long, minutes long")
        self.longest = handle.getValueState("longest", "minutes int")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        entries, minutes = self.total.get() if self.total.exists() else (0, 0)
        longest = self.longest.get()[0] if self.longest.exists() else 0
        for row in rows:
            entries += 1
            minutes += row.minutes
            longest = max(longest, row.minutes)
        self.total.update((entries, minutes))
        self.longest.update((longest,))
        yield Row(lawyer=key[0], entries=entries, minutes=minutes, longest=longest)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    known = entries(spark).where("lawyer is not null and minutes is not null").select("lawyer", "entry", "minutes")
    lawyers = known.groupBy("lawyer").transformWithState(Workload(), OUTPUT, "Update", "None")
    return lawyers.writeStream.outputMode("update").foreachBatch(publish)
