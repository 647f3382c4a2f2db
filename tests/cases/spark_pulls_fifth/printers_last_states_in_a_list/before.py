import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "job string, printer string, material string, grams double, ended timestamp"
OUTPUT = "printer string, previous string, job string"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Latest(StatefulProcessor):
    """Says which job a printer had before."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.last = handle.getValueState("last", "job string")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        previous = self.last.get()[0] if self.last.exists() else None
        for row in sorted(rows, key=lambda row: (row.ended, row.job)):
            yield Row(printer=key[0], previous=previous, job=row.job)
            previous = row.job
        self.last.update((previous,))

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    jobs = spark.readStream.schema(SCHEMA).json(f"{LAKE}/jobs").where("printer IS NOT NULL")
    latest = jobs.groupBy("printer").transformWithState(Latest(), OUTPUT, "Update", "None")
    return latest.writeStream.outputMode("update").foreachBatch(publish)
