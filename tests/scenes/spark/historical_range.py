"""Records of half an hour are processed again, and two functions process the same records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

from confluent_kafka.admin import AdminClient

from headgate.model.version import Engine
from headgate.text.times import from_milliseconds, iso
from scenes.records import MINUTE, Seen, Writer, make_topic, read_all, write_history
from scenes.scene import Scene
from scenes.small_spark import spark_tables
from scenes.spark.scene_table import TO, SceneTable

WINDOW = 10 * MINUTE
SOURCE = """
import json
from pathlib import Path

from pyspark.sql import functions as f


def by_city(spark, delay="1 minute"):
    given = json.loads(Path("query.json").read_text())
    reader = spark.readStream.format("kafka").option("subscribe", given["topic"])
    rows = reader.option("kafka.bootstrap.servers", given["bootstrap"]).load()
    rows = rows.withWatermark("timestamp", delay).withColumn("city", f.expr("string(key)"))
    counted = rows.groupBy(f.window("timestamp", "10 minutes"), "city").agg(f.count("*").alias("n"))
    return counted.select(f.col("window.start").alias("begin"), "city", "n")


def again(spark):
    return by_city(spark)


def patient(spark):
    return by_city(spark, "10 minutes")


def checked(spark):
    given = json.loads(Path("query.json").read_text())
    reader = spark.readStream.format("kafka").option("subscribe", given["topic"])
    rows = reader.option("kafka.bootstrap.servers", given["bootstrap"]).load()
    rows = rows.withWatermark("timestamp", "1 minute")
    is_odd = f.expr("try_cast(get_json_object(string(value), '$.id') AS int) % 5 = 3")
    failing = f.raise_error(f.lit("an odd order"))
    rows = rows.withColumn("city", f.when(is_odd, failing).otherwise(f.expr("string(key)")))
    counted = rows.groupBy(f.window("timestamp", "10 minutes"), "city").agg(f.count("*").alias("n"))
    return counted.select(f.col("window.start").alias("begin"), "city", "n")


def to_topic(spark):
    bootstrap = json.loads(Path("query.json").read_text())["bootstrap"]
    writer = by_city(spark).select(f.to_json(f.struct("*")).alias("value")).writeStream
    writer = writer.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    return writer.option("topic", "counts")
"""


class _Processing(Scene):
    """A function over a topic to which somebody goes on writing; no query of it runs."""

    engine = Engine.SPARK
    markers = ("kafka", "spark")
    on_cluster = True
    function = "by_city"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._topic = self.unique("orders")
        self._writer: Writer | None = None
        self.until = int(time.time() * 1000) // WINDOW * WINDOW
        self.since = self.until - 3 * WINDOW

    @property
    def topics(self) -> tuple[str, ...]:
        """The one topic that is read."""
        return (self._topic,)

    @property
    def target(self) -> Path:
        """Where the results go."""
        return self.folder / "results"

    def prepare(self) -> None:
        """Write the history, register the function and store its version."""
        make_topic(self.bootstrap, self._topic, 2)
        write_history(self.bootstrap, self._topic, 2)
        self.neighbour()
        (self.folder / "by_city.py").write_text(SOURCE)
        given = {"bootstrap": self.bootstrap, "topic": self._topic}
        (self.folder / "query.json").write_text(json.dumps(given))
        entry_point = f"by_city:{self.function}"
        self.register({"checkpoint": "checkpoint", "entry_point": entry_point}, {})
        with self.config.open("a") as file:
            file.write(spark_tables(self.folder, self.cluster))
        capture = ("capture", entry_point, "--pipeline", self.pipeline)
        command = [sys.executable, "-m", "headgate.cli.main", "--config", str(self.config)]
        subprocess.run(
            [*command, *capture], cwd=self.folder, check=True, capture_output=True,
            env=dict(os.environ),
        )  # fmt: skip
        self._writer = Writer(self.bootstrap, self._topic, 2)

    def counted(self, folder: Path) -> Counter[tuple[int, str]]:
        """Return the results of a folder, by start of the window (Unix milliseconds) and city."""
        import pyarrow.parquet

        rows = pyarrow.parquet.read_table(folder).to_pylist()
        found = {(int(r["begin"].timestamp() * 1000), r["city"]): r["n"] for r in rows}
        assert len(found) == len(rows), "a result comes twice"
        return Counter(found)

    def check_undone(self) -> None:
        """Nothing is left of the results."""
        self.check_neighbour()
        left = [p.name for p in self.target.rglob("*")] if self.target.is_dir() else []
        left += [p.name for p in self.folder.iterdir() if ".headgate-" in p.name]
        assert not left, f"left behind: {left}"

    def close(self) -> None:
        """End the producer."""
        if self._writer is not None:
            self._writer.close()


class HistoricalRangeSpark(_Processing):
    """Half an hour, with records that came late before and after it."""

    name = "historical-range-spark"
    scenario = "historical-range"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The range and the folder."""
        times = (iso(from_milliseconds(at)) for at in (self.since, self.until))
        given = zip(("--from", "--until"), times, strict=True)
        more = (f"--to={self.target}", "--time-column=begin")
        return (*(f"{name}={at}" for name, at in given), *more)

    def check_end(self) -> None:
        """Each window has every record of the history, once."""
        self.check_neighbour()
        records = [r for r in self.records() if self.is_processed(r)]
        right = Counter((r.timestamp // WINDOW * WINDOW, (r.key or b"").decode()) for r in records)
        assert self.counted(self.target) == right

    def records(self) -> list[Seen]:
        """Return the records of the range."""
        found = read_all(self.bootstrap, self.topics)
        return [r for rs in found.values() for r in rs if self.since <= r.timestamp < self.until]

    def is_processed(self, record: Seen) -> bool:
        """Whether the results have a record of the range."""
        return True


class HistoricalRangeTopic(HistoricalRangeSpark):
    """The same half hour, into a topic that the run creates."""

    name = "historical-range-topic"
    function = "to_topic"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._results = self.unique("results")

    @property
    def arguments(self) -> tuple[str, ...]:
        """The range and the topic."""
        given = [a for a in super().arguments if not a.startswith(("--to=", "--time-column="))]
        return (*given, f"--to=kafka:{self._results}", "--time-column=value.begin")

    def counted(self, folder: Path) -> Counter[tuple[int, str]]:
        """Return the results of the topic."""
        rows = [json.loads(value) for value in self.written()]
        times = [datetime.fromisoformat(r["begin"]).timestamp() for r in rows]
        found = {(int(at * 1000), r["city"]): r["n"] for at, r in zip(times, rows, strict=True)}
        assert len(found) == len(rows), "a result comes twice"
        return Counter(found)

    def written(self) -> list[bytes]:
        """Return the values in the topic."""
        parts = read_all(self.bootstrap, (self._results,)).values()
        return [r.value or b"" for records in parts for r in records]

    def check_undone(self) -> None:
        """The topic is gone."""
        super().check_undone()
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        assert self._results not in admin.list_topics(timeout=30).topics


class HistoricalRangeTable(HistoricalRangeSpark):
    """The same half hour, in place of the rows of a table that have the same keys."""

    name = "historical-range-table"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._table = SceneTable()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The range, the table and its keys."""
        given = [a for a in super().arguments if not a.startswith("--to=")]
        return (*given, TO, "--keys=begin", "--keys=city")

    def prepare(self) -> None:
        """Start a server with a table in which each city has a wrong count."""
        super().prepare()
        found = read_all(self.bootstrap, self.topics).values()
        cities = {(r.key or b"").decode() for records in found for r in records}
        rows = [(self.since / 1000, city, -1) for city in ("old", *cities)]
        self._table.start(self.config, rows)

    def counted(self, folder: Path) -> Counter[tuple[int, str]]:
        """Return the results of the table."""
        rows = self._table.rows()
        kept = {city for _, city, _, note in rows if note == "kept"}
        assert kept == {row[1] for row in self._table.old}, "a replaced row lost its other values"
        assert ("old", -1) in {(city, n) for _, city, n, _ in rows}
        # A city whose records of that window came late has no result there, and keeps its row.
        found = [r for r in rows if r[2] != -1]
        return Counter({(int(at.timestamp() * 1000), city): n for at, city, n, _ in found})

    def check_undone(self) -> None:
        """The table is as it was, and the run's tables are gone."""
        super().check_undone()
        self._table.check_undone()

    def close(self) -> None:
        """End the server, too."""
        super().close()
        self._table.close()


class AbSpark(_Processing):
    """Two functions that are the same: no row differs."""

    name = "ab-spark"
    scenario = "ab"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The other function, the keys and the folder."""
        keys = ("--keys=begin", "--keys=city")
        return ("--other=by_city:again", *keys, f"--to={self.target}")

    def check_end(self) -> None:
        """Both have every record that the topic held when the plan was made."""
        self.check_neighbour()
        results = [self.counted(self.target / name) for name in ("a", "b")]
        assert results[0] == results[1]
        found = read_all(self.bootstrap, self.topics)
        history = [r for rs in found.values() for r in rs if r.timestamp < self.since]
        right = Counter((r.timestamp // WINDOW * WINDOW, (r.key or b"").decode()) for r in history)
        old = {key: n for key, n in results[0].items() if key[0] < self.since}
        assert old == right
