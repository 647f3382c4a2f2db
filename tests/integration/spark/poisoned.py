"""A query of the tests' own session that fails on one record, started and stopped by commands."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import functions as F

from integration.spark.driven import Driven

POISON = "poison"


class Poisoned(Driven):
    """Copies values to files (`stateless`), or counts them (`stateful`) into a topic.

    A record whose value is `poison` raises, every time that it is read, until it is `fixed`.
    """

    def __init__(self, spark, folder: Path, kind: str, bootstrap: str, topic: str, out: str):
        super().__init__(folder)
        self.spark, self.kind = spark, kind
        self.bootstrap, self.topic, self.out = bootstrap, topic, out
        self.checkpoint, self.fixed = folder / "checkpoint", False

    def begin(self):
        raises = f"IF(text = '{POISON}', raise_error('this one can not be read'), text)"
        records = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
            .load()
            .selectExpr("partition", "offset", "CAST(value AS STRING) AS text")
            .selectExpr("partition", "offset", f"{'text' if self.fixed else raises} AS value")
        )
        if self.kind == "stateful":
            counts = records.groupBy("value").agg(
                F.count("*").alias("n"), F.max("offset").alias("last")
            )
            rows = counts.selectExpr("to_json(struct(*)) AS value")
            writer = rows.writeStream.outputMode("update").format("kafka").option("topic", self.out)
            writer = writer.option("kafka.bootstrap.servers", self.bootstrap)
        else:
            writer = records.writeStream.format("json").option("path", self.out)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        return writer.trigger(processingTime="200 milliseconds").start()
