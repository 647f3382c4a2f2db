"""A real query writes each order once, and is upgraded beside itself while orders keep arriving."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from headgate.model.version import Engine
from integration.spark.online_queries import JOBS
from scenes.records import Writer, make_topic, read_all, write_history
from scenes.scene import RUNS, STATUS, STOP, Scene
from scenes.small_spark import SMALL, spark_tables

RUNNER = """
import signal, time
from pathlib import Path

import jobs
from pyspark.sql import SparkSession

going = [True]
signal.signal(signal.SIGTERM, lambda *_: going.clear())
builder = SparkSession.builder.master("local[1]").appName("known")
for key, value in {settings}.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
query = getattr(jobs, Path("current").read_text().strip())(spark).start()
while query.isActive and query.lastProgress is None and going:
    time.sleep(0.1)
Path("ready").touch()
while query.isActive and going:
    time.sleep(0.1)
while query.isActive and query.status["isTriggerActive"]:
    time.sleep(0.02)
query.stop()
spark.stop()
"""
START = (
    f"[ -e pipeline.pid ] && {RUNS} && {{ echo >> twice; exit 0; }}; rm -f ready;"
    " nohup {python} runner.py >> pipeline.log 2>&1 & echo $! > pipeline.pid;"
    f" for i in $(seq 1200); do [ -e ready ] && exit 0; {RUNS} || exit 1; sleep 0.1; done; exit 1"
)
COMMANDS = {
    "start": START,
    "stop": STOP,
    "status": STATUS,
    "deploy": 'echo "${HEADGATE_MESSAGE#jobs:}" > current',
    "rollback": "echo first > current",
}


class OnlineUpgradeSpark(Scene):
    """The version `second` says in each result that it wrote it."""

    name = "online-upgrade-spark"
    scenario = "online-upgrade"
    engine = Engine.SPARK
    markers = ("kafka", "spark")
    on_cluster = True
    # Seven starts of Spark, of which other cells have theirs at the same time.
    run_seconds = 600.0

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._topic, self._sink = self.unique("orders"), self.unique("known")
        self._writer: Writer | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The one topic that it reads."""
        return (self._topic,)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The other version, compared without the field in which it names itself.

        The running version is named: of what a worker observes, a checkpoint, nobody knows the
        key columns. A batch comes every 4 s, and on a busy machine Spark starts for a minute.
        """
        versions = (f"--before={self.pipeline}@1", "--after=jobs:second")
        return (*versions, "--keys=id", "--ignore=by", "--compare-for=3", "--max-lag=60")

    def prepare(self) -> None:
        """Start the query in a process of its own, and store its version."""
        from headgate.gateway.process.jars import spark_jars

        make_topic(self.bootstrap, self._topic, 2)
        make_topic(self.bootstrap, self._sink, 2)
        write_history(self.bootstrap, self._topic, 2)
        self.neighbour()
        fields = {"broker": self.bootstrap, "folder": self.folder}
        code = JOBS.format(topic=self._topic, sink=self._sink, **fields)
        (self.folder / "jobs.py").write_text(code)
        settings = {**SMALL, "spark.jars": ",".join(map(str, spark_jars()))}
        (self.folder / "runner.py").write_text(RUNNER.format(settings=settings))
        (self.folder / "current").write_text("first")
        commands = COMMANDS | {"start": START.replace("{python}", sys.executable)}
        given = {"checkpoint": "checkpoint", "entry_point": "jobs:first"}
        self.register(given, commands)
        with self.config.open("a") as file:
            file.write(spark_tables(self.folder, self.cluster))
        self._capture()
        self._writer = Writer(self.bootstrap, self._topic, 2)
        assert self.shell(commands["start"]) == 0, "the query does not start"
        self._wait_until_written()

    def _capture(self) -> None:
        command = [sys.executable, "-m", "headgate.cli.main", "--config", str(self.config)]
        capture = ("capture", "jobs:first", "--pipeline", self.pipeline)
        subprocess.run(
            [*command, *capture], cwd=self.folder, check=True, capture_output=True,
            env=dict(os.environ),
        )  # fmt: skip

    def _written(self) -> Counter[tuple[str, str]]:
        """Return how often each order was written, by its id and the version that wrote it."""
        found = read_all(self.bootstrap, [self._sink])
        values = [json.loads(r.value or b"{}") for records in found.values() for r in records]
        return Counter((v["id"], v.get("by", "first")) for v in values)

    def _sent(self) -> set[str]:
        found = read_all(self.bootstrap, [self._topic])
        values = [json.loads(r.value or b"{}") for records in found.values() for r in records]
        return {str(v["id"]) for v in values}

    def _wait_until_written(self) -> None:
        """Wait until every order that was sent by now is in the output topic."""
        sent = self._sent()

        def missing() -> set[str]:
            return sent - {order for order, _ in self._written()}

        self.wait(lambda: not missing(), lambda: f"not written: {sorted(missing())[:3]}")

    def check_end(self) -> None:
        """The new version runs; each order was written once, by one of both versions."""
        self.check_neighbour()
        assert (self.folder / "current").read_text().strip() == "second", "it is not deployed"
        self._wait_until_written()
        count = Counter(order for order, _ in self._written().elements())
        twice = sorted(order for order, n in count.items() if n > 1)
        assert not twice, f"written twice: {twice[:5]}"
        self._check_clean()

    def check_undone(self) -> None:
        """The old version runs; only what the new one wrote was written again."""
        self.check_neighbour()
        assert (self.folder / "current").read_text().strip() == "first", "it is not rolled back"
        self._wait_until_written()
        written = self._written()
        twice = sorted(order for (order, _), n in written.items() if n > 1)
        assert not twice, f"written twice by one version: {twice[:5]}"
        # The old version may still be on its way through what the new one has written.
        new = {order for order, version in written if version == "second"}
        self.wait(
            lambda: new <= {o for o, version in self._written() if version == "first"},
            "the old version does not continue at the switch",
        )
        self._check_clean()

    def _check_clean(self) -> None:
        """Nothing is left of the shadow topic and of the copy."""
        from confluent_kafka.admin import AdminClient

        topics = AdminClient({"bootstrap.servers": self.bootstrap}).list_topics(timeout=10).topics
        assert f"{self._sink}-shadow" not in topics, "the shadow topic is left behind"
        left = [p.name for p in self.folder.glob(".checkpoint.staged-*")]
        assert not left, f"left behind: {left}"

    def close(self) -> None:
        """End the producer and the query."""
        if self._writer is not None:
            self._writer.close()
        self.shell(STOP)
