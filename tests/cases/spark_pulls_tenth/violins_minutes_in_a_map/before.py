import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "pupil string, piece string, minutes int, played timestamp"
OUTPUT = "pupil string, minutes long, pieces long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Practice(StatefulProcessor):
    """How long a pupil has practised."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "minutes long, pieces long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        minutes, pieces = self.total.get() if self.total.exists() else (0, 0)
        for row in rows:
            minutes += row.minutes or 0
            pieces += 1
        self.total.update((minutes, pieces))
        yield Row(pupil=key[0], minutes=minutes, pieces=pieces)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    played = spark.readStream.schema(SCHEMA).json(f"{LAKE}/practised").where("pupil IS NOT NULL AND piece IS NOT NULL")
    pupils = played.groupBy("pupil").transformWithState(Practice(), OUTPUT, "Update", "None")
    return pupils.writeStream.outputMode("update").foreachBatch(publish)
