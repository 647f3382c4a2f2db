import os
from collections.abc import Iterator

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "player string, match string, region string, level int, score long, event string, ts timestamp"


def events(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/events")

OUTPUT = "player string, score long"


class Score(StatefulProcessor):
    """The score of a player."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.score = handle.getValueState("score", "value int")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[Row]:
        score = self.score.get()[0] if self.score.exists() else 0
        for row in rows:
            score += row.score
        self.score.update((score,))
        yield Row(player=key[0], score=score)

    def close(self) -> None:
        pass


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    scores = events(spark).groupBy("player").transformWithState(Score(), OUTPUT, "Update", "None")
    return scores.writeStream.outputMode("update").foreachBatch(publish)
