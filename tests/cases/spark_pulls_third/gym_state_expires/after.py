import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

SCHEMA = "member string, gym string, exercise string, reps int, weight double, at timestamp"


def sets(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/sets")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "member string, sets long, reps long"


class Effort(StatefulProcessor):
    """Sets and repetitions of a member."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.effort = handle.getValueState("effort", "sets long, reps long", 30 * 86_400_000)

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        sets, reps = self.effort.get() if self.effort.exists() else (0, 0)
        for row in rows:
            sets += 1
            reps += row.reps or 0
        self.effort.update((sets, reps))
        yield Row(member=key[0], sets=sets, reps=reps)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    known = sets(spark).where("member is not null")
    members = known.groupBy("member").transformWithState(Effort(), OUTPUT, "Update", "ProcessingTime")
    return members.writeStream.outputMode("update").foreachBatch(publish)
