import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "id string, account string, country string, amount decimal(14,2), device struct<os:string,known:boolean>, ts timestamp"


def transfers(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/transfers")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


OUTPUT = "account string, countries int"


class Countries(StatefulProcessor):
    """The countries that an account sent money to."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.countries = handle.getMapState("countries", "country string", "n long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        for row in rows:
            if row.country:
                n = self.countries.getValue((row.country,))
                self.countries.updateValue((row.country,), ((n[0] if n else 0) + 1,))
        yield Row(account=key[0], countries=len(list(self.countries.keys())))

    def close(self) -> None:
        pass


def build(spark):
    spark.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    accounts = transfers(spark).groupBy("account").transformWithState(Countries(), OUTPUT, "Update", "None")
    return accounts.writeStream.outputMode("update").foreachBatch(publish)
