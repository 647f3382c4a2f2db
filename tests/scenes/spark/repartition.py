"""A stopped query's state is spread over other partitions by real Spark; the undo puts it back."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from headgate.gateway.checkpoint.folders import tree_hash
from scenes.records import Writer, make_topic, write_history
from scenes.scene import QueryScene

_READ, _WANTED = 3, 5
# Two batches of counts by key, in two partitions of RocksDB.
_QUERY = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.streaming.stateStore.providerClass", store)
    .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    .getOrCreate()
)
(folder / "in").mkdir()
for batch in range(2):
    (folder / "in" / f"{batch}.csv").write_text("".join(f"k{n % 7}\\n" for n in range(20)))
    counts = spark.readStream.schema("k string").csv(str(folder / "in")).groupBy("k").count()
    writer = counts.writeStream.outputMode("update").format("noop").trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
"""


@cache
def _written() -> Path:
    """Return a checkpoint that Spark wrote, made once for all trials."""
    folder = Path(tempfile.mkdtemp(prefix="counted"))
    argv = [sys.executable, "-c", _QUERY, str(folder)]
    subprocess.run(argv, check=True, capture_output=True)
    return folder / "checkpoint"


class RepartitionSpark(QueryScene):
    """Five partitions instead of two. The stand-in writes no state, so it starts only then."""

    name = "repartition-spark"
    scenario = "repartition"
    arguments = (f"--partitions={_WANTED}",)

    def prepare(self) -> None:
        """Make topic and checkpoint; nothing runs."""
        topic = self.topics[0]
        make_topic(self.bootstrap, topic, self.partitions)
        write_history(self.bootstrap, topic, self.partitions)
        self.neighbour()
        self.make_ready()
        self.register(self.fields(), self.commands())
        self._writer = Writer(self.bootstrap, topic, self.partitions)
        self.before = tree_hash(self.checkpoint)

    def make_ready(self) -> None:
        """Take over a checkpoint with state, as if its batches had read this scene's topic."""
        shutil.copytree(_written(), self.checkpoint)
        shutil.rmtree(self.checkpoint / "sources")
        now = f'"batchTimestampMs":{int(time.time() * 1000)}'
        for batch, read in enumerate((1, _READ)):
            file = self.checkpoint / "offsets" / str(batch)
            at = {self.topics[0]: {str(part): read for part in range(self.partitions)}}
            text = re.sub(r'"batchTimestampMs":\d+', now, file.read_text())
            file.write_text(re.sub(r'\{"logOffset":\d+\}', json.dumps(at), text))

    def check_end(self) -> None:
        """The state lies in five partitions, and the query went on behind its last batch."""
        self.check_neighbour()
        assert self._spread() == {str(n) for n in range(_WANTED)}
        self.wait(lambda: bool(self.lives()), "nobody started it")
        self.check_reading(since=0)
        first = self.lives()[0]
        assert first.at == {f"{self.topics[0]}-{part}": _READ for part in range(self.partitions)}

    def check_undone(self) -> None:
        """The checkpoint is what it was, byte for byte, and nothing runs."""
        self.check_neighbour()
        assert tree_hash(self.checkpoint) == self.before, "the checkpoint is not what it was"
        self.wait(lambda: not self._alive(), "something runs that did not before")

    def _spread(self) -> set[str]:
        """Return the partitions that the one operator's state lies in."""
        return {p.name for p in (self.checkpoint / "state" / "0").iterdir() if p.name.isdigit()}
