import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "lesson string, pupil string, topic string, minutes int, given timestamp"
OUTPUT = "pupil string, lessons long, minutes long, topics string"


class Lessons(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "lessons long, minutes long")
        self.topics = handle.getListState("topics", "topic string")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[pd.DataFrame]:
        lessons, minutes = self.total.get() if self.total.exists() else (0, 0)
        topics = {row[0] for row in self.topics.get()}
        for frame in rows:
            topics.update(frame["topic"].dropna())
            lessons += len(frame)
            minutes += int(frame["minutes"].fillna(0).sum())
        self.total.update((lessons, minutes))
        if topics:
            self.topics.put([(topic,) for topic in sorted(topics)])
        yield pd.DataFrame(
            {"pupil": [key[0]], "lessons": [lessons], "minutes": [minutes], "topics": [", ".join(sorted(topics))]}
        )

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
