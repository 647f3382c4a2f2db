"""A query of the tests' own session that fails on one record, started and stopped by commands."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

POISON = "poison"
# The session that runs the query looks at `wanted` and tells by `running`.
COMMANDS = {
    "start": "touch wanted; for i in $(seq 600); do [ -e running ] && exit 0; [ -e wanted ] ||"
    " exit 0; sleep 0.1; done",
    "stop": "rm -f wanted; while [ -e running ]; do sleep 0.1; done",
    "status": "[ -e running ] && exit 0 || exit 3",
}


class Poisoned:
    """Copies values to files (`stateless`), or counts them (`stateful`) into a topic.

    A record whose value is `poison` raises, every time that it is read, until it is `fixed`.
    """

    def __init__(self, spark, folder: Path, kind: str, bootstrap: str, topic: str, out: str):
        self.spark, self.folder, self.kind = spark, folder, kind
        self.bootstrap, self.topic, self.out = bootstrap, topic, out
        self.checkpoint, self.fixed, self.why = folder / "checkpoint", False, ""
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._obey, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        (self.folder / "wanted").unlink(missing_ok=True)
        self._end.set()
        self._thread.join(60)

    def table(self) -> str:
        """Its entry in headgate.toml."""
        lines = [f"{word} = {json.dumps(text)}" for word, text in COMMANDS.items()]
        head = '[[pipeline]]\nname = "poisoned"\nengine = "spark"\ncheckpoint = "checkpoint"\n'
        return head + "\n".join(["[pipeline.commands]", *lines])

    def _obey(self):
        wanted, running = self.folder / "wanted", self.folder / "running"
        while not self._end.wait(0.1):
            if not wanted.exists():
                continue
            query = self._writer().start()
            running.touch()
            try:
                while wanted.exists() and not query.awaitTermination(0.2):
                    pass
                query.stop()
            except StreamingQueryException as error:
                self.why = str(error)
                wanted.unlink(missing_ok=True)
            running.unlink()

    def _writer(self):
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
        return writer.trigger(processingTime="200 milliseconds")
