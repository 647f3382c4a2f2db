import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "job string, printer string, material string, grams double, ended timestamp"
OUTPUT = "printer string, previous string, job string, known int"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Latest(StatefulProcessor):
    """Says which jobs a printer had before, at most three."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.last = handle.getListState("last", "job string")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        known = [job for (job,) in self.last.get()] if self.last.exists() else []
        for row in sorted(rows, key=lambda row: (row.ended, row.job)):
            yield Row(printer=key[0], previous=known[-1] if known else None, job=row.job, known=len(known))
            known = [*known, row.job][-3:]
        self.last.put([(job,) for job in known])

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    jobs = spark.readStream.schema(SCHEMA).json(f"{LAKE}/jobs").where("printer IS NOT NULL")
    latest = jobs.groupBy("printer").transformWithState(Latest(), OUTPUT, "Update", "None")
    return latest.writeStream.outputMode("update").foreachBatch(publish)
