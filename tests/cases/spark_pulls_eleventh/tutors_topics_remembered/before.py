import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "lesson string, pupil string, topic string, minutes int, given timestamp"
OUTPUT = "pupil string, lessons long, minutes long"


class Lessons(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "lessons long, minutes long")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[pd.DataFrame]:
        lessons, minutes = self.total.get() if self.total.exists() else (0, 0)
        for frame in rows:
            lessons += len(frame)
            minutes += int(frame["minutes"].fillna(0).sum())
        self.total.update((lessons, minutes))
        yield pd.DataFrame({"pupil": [key[0]], "lessons": [lessons], "minutes": [minutes]})

    def close(self) -> None:
        pass


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    given = spark.readStream.schema(SCHEMA).json(f"{LAKE}/tutor_lessons").where("pupil IS NOT NULL")
    pupils = given.groupBy("pupil").transformWithStateInPandas(
        statefulProcessor=Lessons(), outputStructType=OUTPUT, outputMode="Update", timeMode="None"
    )
    return pupils.writeStream.outputMode("update").foreachBatch(publish)
