import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "probe string, slope string, moisture double, read_at timestamp"
OUTPUT = "probe string, slope string, fall double, at timestamp"
WIDTH = "1 hour"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Falls(StatefulProcessor):
    """Reports when a probe gets drier."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.last = handle.getValueState("last", "moisture double")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        before = self.last.get()[0] if self.last.exists() else None
        for row in sorted(rows, key=lambda row: row.read_at):
            if before is not None and row.moisture < before:
                yield Row(probe=key[0], slope=row.slope, fall=before - row.moisture, at=row.read_at)
            before = row.moisture
        self.last.update((before,))

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/soil_probes").where("moisture IS NOT NULL AND probe > ''")
    probes = read.withWatermark("read_at", "10 minutes").groupBy("probe")
    falls = probes.transformWithState(Falls(), OUTPUT, "Append", "EventTime", eventTimeColumnName="at")
    slopes = falls.groupBy(F.window("at", WIDTH), "slope").agg(
        F.count("*").alias("alerts"), F.max("fall").alias("deepest"), F.approx_count_distinct("probe").alias("probes")
    )
    return slopes.writeStream.outputMode("append").foreachBatch(publish)
