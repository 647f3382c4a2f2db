import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

SCHEMA = "candidate string, posting string, stage string, score int, at timestamp"


def applications(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/applications")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "candidate string, steps long, best int"


class Career(StatefulProcessor):
    """How far a candidate has come."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.cnt = handle.getValueState("cnt", "value long")
        self.best = handle.getValueState("best", "value int")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        steps = self.cnt.get()[0] if self.cnt.exists() else 0
        best = self.best.get()[0] if self.best.exists() else 0
        for row in rows:
            steps += 1
            best = max(best, row.score or 0)
        self.cnt.update((steps,))
        self.best.update((best,))
        yield Row(candidate=key[0], steps=steps, best=best)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    careers = applications(spark).groupBy("candidate").transformWithState(
        Career(), OUTPUT, "Update", "None"
    )
    return careers.writeStream.outputMode("update").foreachBatch(publish)
