import json
import os
from pathlib import Path

from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gate string, passport string, seconds int, passed string"
FIELDS = ("gate", "passport", "seconds", "passed")


def passages():
    """Lines of all files of the gates, oldest first."""
    files = sorted(Path(f"{LAKE}/gates_of_borders").glob("part-*"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


class GateReader(SimpleDataSourceStreamReader):
    """Reads what gates have written since the last batch."""

    def initialOffset(self):
        return {"line": 0}

    def read(self, start):
        rows = passages()
        return iter([tuple(r[f] for f in FIELDS) for r in rows[start["line"] :]]), {"line": len(rows)}

    def readBetweenOffsets(self, start, end):
        return iter([tuple(r[f] for f in FIELDS) for r in passages()[start["line"] : end["line"]]])


class Gates(DataSource):
    """Passages of the automatic gates."""

    @classmethod
    def name(cls):
        return "gates"

    def schema(self):
        return SCHEMA

    def simpleStreamReader(self, schema):
        return GateReader()


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    spark.dataSource.register(Gates)
    passed = spark.readStream.format("gates").load().withColumn("passed", F.to_timestamp("passed"))
    gates = (
        passed.where("passport IS NOT NULL")
        .groupBy("gate")
        .agg(F.count("*").alias("passages"), F.avg("seconds").alias("seconds"), F.max("passed").alias("last"))
    )
    return gates.writeStream.outputMode("update").foreachBatch(publish)
