import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "plow string, street string, kmh double, at timestamp"
KEPT = 5
OUTPUT = "plow string, places int, streets int, fastest double"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Places(StatefulProcessor):
    """Where a plow was, and how fast."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.places = handle.getListState("places", "street string, kmh double")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        new = [(row.street, row.kmh) for row in sorted(rows, key=lambda row: (row.at, row.street))]
        known = [*self.places.get(), *new][-KEPT:]
        self.places.put(known)
        fastest = max((kmh for _, kmh in known), default=None)
        yield Row(plow=key[0], places=len(known), streets=len({street for street, _ in known}), fastest=fastest)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    places = spark.readStream.schema(SCHEMA).json(f"{LAKE}/places_of_plows").dropna(subset=["plow", "street", "kmh"])
    once = places.withWatermark("at", "1 hour").dropDuplicates(["plow", "at"])
    plows = once.groupBy("plow").transformWithState(Places(), OUTPUT, "Update", "None")
    return plows.writeStream.outputMode("update").foreachBatch(publish)
