import os
from collections.abc import Iterator
from decimal import Decimal

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

SCHEMA = "charge string, station string, plug string, kwh decimal(9,3), cents long, idle int, done timestamp"


def charges(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/charges")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "station string, charges long, kwh decimal(20,3), best decimal(9,3)"


class Delivered(StatefulProcessor):
    """What a station delivered, and the most of it at once."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "charges long, kwh decimal(20,3)")
        self.best = handle.getValueState("best", "kwh decimal(9,3)")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        charges, kwh = self.total.get() if self.total.exists() else (0, Decimal(0))
        best = self.best.get()[0] if self.best.exists() else Decimal(0)
        for row in rows:
            charges += 1
            kwh += row.kwh
            best = max(best, row.kwh)
        self.total.update((charges, kwh))
        self.best.update((best,))
        yield Row(station=key[0], charges=charges, kwh=kwh, best=best)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    spark.conf.set("spark.sql.streaming.stateStore.encodingFormat", "avro")
    known = charges(spark).where("station is not null and kwh is not null")
    stations = known.groupBy("station").transformWithState(Delivered(), OUTPUT, "Update", "None")
    return stations.writeStream.outputMode("update").foreachBatch(publish)
