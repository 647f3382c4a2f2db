import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

SCHEMA = "rx string, drug string, code string, qty int, insured boolean, due date, sold timestamp"


def sales(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/sales")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "drug string, codes int, often string"


class Codes(StatefulProcessor):
    """Codes under which a drug was sold."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.codes = handle.getMapState("codes", "code string", "times int")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        for row in rows:
            times = self.codes.getValue((row.code,))[0] if self.codes.containsKey((row.code,)) else 0
            self.codes.updateValue((row.code,), (times + 1,))
        times = {code: n for (code,), (n,) in self.codes.iterator()}
        often = max(sorted(times), key=times.get)
        yield Row(drug=key[0], codes=len(times), often=often)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    known = sales(spark).where("drug is not null and code is not null")
    drugs = known.groupBy("drug").transformWithState(Codes(), OUTPUT, "Update", "None")
    return drugs.writeStream.outputMode("update").foreachBatch(publish)
