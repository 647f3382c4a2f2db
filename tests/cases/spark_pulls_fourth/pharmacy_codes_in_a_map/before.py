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
        self.codes = handle.getListState("codes", "code string")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        for row in rows:
            self.codes.appendValue((row.code,))
        codes = [code for (code,) in self.codes.get()]
        often = max(sorted(set(codes)), key=codes.count)
        yield Row(drug=key[0], codes=len(set(codes)), often=often)

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    known = sales(spark).where("drug is not null and code is not null")
    drugs = known.groupBy("drug").transformWithState(Codes(), OUTPUT, "Update", "None")
    return drugs.writeStream.outputMode("update").foreachBatch(publish)
