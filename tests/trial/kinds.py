"""The kinds of pipelines: how each is registered, loaded and read."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headgate.gateway.process.jars import streams_class_path
from headgate.gateway.process.java import java
from headgate.local.demo.run_query import spark_jars
from trial import reader
from trial.load import Record
from trial.reader import Counts
from trial.site import JVM, Site


class Kind:
    """One kind of pipeline in a folder of its own; subclasses say what is special."""

    name, engine, settings = "", "spark", {"input": "input", "output": "output"}

    def __init__(self, folder: Path, broker: str) -> None:
        home = folder / self.name
        prefix = f"{folder.name}-{self.name}-".replace("_", "-")
        topics = {key: prefix + word for key, word in self.settings.items()}
        toml, start = self.registered(home, topics)
        settings = {**topics, **self.more_settings(home), "broker": broker}
        self.site = Site(home, broker, self.name, self.engine, toml, settings, start)
        for key in topics:
            self.site.load.make(topics[key], 2 if key == "input" and self.engine != "spark" else 1)
        self.site.write()

    def registered(self, home: Path, topics: dict[str, str]) -> tuple[dict[str, Any], str]:
        """Return what headgate.toml says of it, and the command that starts it."""
        spoken = {"checkpoint": str(home / "checkpoint"), "watch": str(home / "watch")}
        run = f"{sys.executable} run.py {self.name}"
        return {**spoken, "entry_point": f"{self.name}:build"}, run

    def more_settings(self, home: Path) -> dict[str, Any]:
        """Return what the program needs besides its topics."""
        spark = {
            "spark.jars": ",".join(map(str, spark_jars())),
            "spark.driver.memory": "512m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": JVM,
            "spark.local.dir": str(home / "local"),
            "spark.sql.shuffle.partitions": "1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        return {"spark": spark, "checkpoint": str(home / "checkpoint")}

    def send(self, records: Iterable[Record], key: str = "input") -> int:
        """Write records to an input; ids that begin with `end` only move the event time."""
        return self.site.load.write(self.site.settings[key], records)

    def first(self) -> None:
        """Write what the pipeline processes before the plan."""
        raise NotImplementedError

    def more(self) -> None:
        """Write what comes between the run and its undo."""
        raise NotImplementedError

    def found(self) -> list[str]:
        """Return the ids in the outputs, as often as they are there."""
        return [row["id"] for row in self.rows()]

    def rows(self) -> list[dict[str, Any]]:
        """Return what the output topic holds."""
        return reader.read_topic(self.site.broker, self.site.settings["output"])

    def counts(self) -> Counts:
        """Compare the outputs with the ledger."""
        ids = (entry.id for entry in self.site.ledger.entries())
        return reader.count_ids((one for one in ids if not one.startswith("end")), self.found())


class Billing(Kind):
    """A plain consumer group that passes records on: 300 at first, then 60 more."""

    name, engine = "billing", "consumer-group"

    def registered(self, home: Path, topics: dict[str, str]) -> tuple[dict[str, Any], str]:
        toml = {"group": topics["input"], "topics": [topics["input"]]}
        return toml, f"{sys.executable} billing.py"

    def more_settings(self, home: Path) -> dict[str, Any]:
        return {"group": f"{home.parent.name}-{self.name}-input".replace("_", "-")}

    def first(self) -> None:
        self.send(Record(f"o{n}", f"u{n % 7}", n, n % 2) for n in range(300))

    def more(self) -> None:
        self.send(Record(f"p{n}", f"u{n % 7}", 300 + n, n % 2) for n in range(60))


class Sessions(Kind):
    """Session windows: 200 clicks in closed sessions, 100 in 10 open ones, then 100 more."""

    name = "sessions"

    def first(self) -> None:
        self.send(Record(f"a{n}", f"u{n % 10}", n / 10) for n in range(200))
        self.send(Record(f"b{n}", f"u{n % 10}", 200 + n / 10) for n in range(100))

    def more(self) -> None:
        self.send(Record(f"c{n}", f"u{n % 10}", 205 + n / 10) for n in range(100))
        self.send([Record("end", "end", 1000)])

    def found(self) -> list[str]:
        return [one for row in self.rows() for one in row["ids"] if not one.startswith("end")]


class Joined(Kind):
    """Orders and payments: 100 orders are done, 40 wait for payments, 20 of which come then."""

    name, settings = "joined", {"input": "orders", "second": "payments"}

    def more_settings(self, home: Path) -> dict[str, Any]:
        return {**super().more_settings(home), "output": str(home / "out")}

    def first(self) -> None:
        self.send(Record(f"o{n}", f"o{n}", n / 10) for n in range(100))
        self.send((Record(f"y{n}", f"o{n}", 5 + n / 10) for n in range(0, 100, 2)), "second")
        self.send(Record(f"p{n}", f"p{n}", 200 + n / 10) for n in range(40))
        self.send([Record("end-y", "end-y", 200)], "second")

    def more(self) -> None:
        self.send((Record(f"z{n}", f"p{n}", 205 + n / 10) for n in range(0, 40, 2)), "second")
        self.send([Record("end-o", "end-o", 1000)])
        self.send([Record("end-z", "end-z", 1000)], "second")

    def found(self) -> list[str]:
        rows = [row for out in ("out", "new") for row in reader.read_parquet(self.folder / out)]
        ids = [row[key] for row in rows for key in ("order_id", "payment_id")]
        return [one for one in ids if one and not one.startswith("end")]

    @property
    def folder(self) -> Path:
        """Where it writes."""
        return self.site.folder


class Distinct(Kind):
    """Deduplication: 200 ids, 50 of them twice; then 40 of these again and 60 new ones."""

    name, settings = "distinct", {"input": "input"}

    def more_settings(self, home: Path) -> dict[str, Any]:
        return {**super().more_settings(home), "output": str(home / "out")}

    def first(self) -> None:
        self.send(Record(f"d{n}", "k", n / 10) for n in range(200))
        self.send(Record(f"d{n}", "k", n / 10) for n in range(0, 200, 4))

    def more(self) -> None:
        self.send(Record(f"d{n}", "k", n / 10) for n in range(40))
        self.send(Record(f"e{n}", "k", 25 + n / 10) for n in range(60))

    def found(self) -> list[str]:
        return [row["id"] for row in reader.read_json(self.site.folder / "out")]


class Windows(Kind):
    """Kafka Streams counts by key and minute: 240 records, then 60 in the second minute."""

    name, engine = "windows", "kafka-streams"

    def registered(self, home: Path, topics: dict[str, str]) -> tuple[dict[str, Any], str]:
        application = topics["input"].removesuffix("-input") + "-app"
        jvm = "-Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
        words = [*jvm.split(), "-cp", streams_class_path(), "Counts.java"]
        self.extra = {"application": application, "state": str(home / "state")}
        toml = {"group": application, "topics": [topics["input"]], "evidence": ["topology.txt"]}
        return toml, shlex.join([java(), *words])

    def more_settings(self, home: Path) -> dict[str, Any]:
        return {**self.extra, "group": self.extra["application"]}

    def first(self) -> None:
        self.send(Record(f"w{n}", f"k{n % 6}", n / 2, n % 2) for n in range(240))

    def more(self) -> None:
        self.send(Record(f"x{n}", f"k{n % 6}", 90 + n / 3, n % 2) for n in range(60))

    def counts(self) -> Counts:
        """Compare the newest count of each key and minute with the ledger's: too few, too many."""
        true: dict[tuple[str, int], int] = {}
        for entry in self.site.ledger.entries():
            place = entry.key, entry.at - entry.at % 60_000
            true[place] = true.get(place, 0) + 1
        newest = {(row["key"], row["start"]): row["count"] for row in self.rows()}
        gaps = [n - newest.get(place, 0) for place, n in true.items()]
        return Counts(sum(max(0, gap) for gap in gaps), sum(max(0, -gap) for gap in gaps))


def settings_of(kind: Kind, **changed: Any) -> None:
    """Change the program's settings, as somebody does who deploys another version."""
    kind.site.settings.update(changed)
    (kind.site.folder / "settings.json").write_text(json.dumps(kind.site.settings))
