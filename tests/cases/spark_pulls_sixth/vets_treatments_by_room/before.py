import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "visit string, clinic string, treatment string, room int, came timestamp"
OUTPUT = "clinic string, kinds int, times long"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


class Treatments(StatefulProcessor):
    """How often each treatment was given in a clinic."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.times = handle.getMapState("times", "treatment string", "n long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        for row in rows:
            given = (row.treatment,)
            n = self.times.getValue(given)[0] if self.times.containsKey(given) else 0
            self.times.updateValue(given, (n + 1,))
        counts = [n for _, (n,) in self.times.iterator()]
        yield Row(clinic=key[0], kinds=len(counts), times=sum(counts))

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/treated").where("treatment IS NOT NULL AND room IS NOT NULL")
    clinics = visits.groupBy("clinic").transformWithState(Treatments(), OUTPUT, "Update", "None")
    return clinics.writeStream.outputMode("update").foreachBatch(publish)
