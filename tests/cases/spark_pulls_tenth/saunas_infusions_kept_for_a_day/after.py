import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "guest string, sauna string, infusion string, entered timestamp"
OUTPUT = "guest string, infusion string, times long"
KEPT_FOR = 24 * 3_600_000


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Infusions(StatefulProcessor):
    """How often a guest had an infusion lately."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.times = handle.getMapState("times", "infusion string", "times long", KEPT_FOR)

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        for row in rows:
            infusion = (row.infusion or "none",)
            times = self.times.getValue(infusion)[0] if self.times.containsKey(infusion) else 0
            self.times.updateValue(infusion, (times + 1,))
            yield Row(guest=key[0], infusion=infusion[0], times=times + 1)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    entered = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sauna_guests").where("guest IS NOT NULL")
    once = entered.withWatermark("entered", "20 minutes").dropDuplicatesWithinWatermark(["guest", "entered"])
    guests = once.groupBy("guest").transformWithState(Infusions(), OUTPUT, "Append", "ProcessingTime")
    return guests.writeStream.outputMode("append").foreachBatch(publish)
