"""Queries that pass topics on to each other: their code is a team's file beside headgate.toml."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
import threading

from integration.spark.driven import COMMANDS, Driven
from scenes.scene import STAND_IN, STATUS, STOP

SOURCE = """
import json
from pathlib import Path

from pyspark.sql import functions as F

GIVEN = json.loads((Path(__file__).parent / "chain.json").read_text())


def read(spark, topic):
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", GIVEN["bootstrap"])
        .option("subscribe", GIVEN[topic])
        .option("startingOffsets", "earliest")
        .load()
    )


def written(rows, topic, mode="append"):
    return (
        rows.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", GIVEN["bootstrap"])
        .option("topic", GIVEN[topic])
        .outputMode(mode)
        .trigger(processingTime="300 milliseconds")
    )


def upper(spark):
    values = read(spark, "orders").selectExpr("key", "upper(CAST(value AS STRING)) AS value")
    return written(values, "upper").queryName("upper")


def totals(spark):
    counted = read(spark, "upper").groupBy(F.col("value").cast("string").alias("key")).count()
    rows = counted.select("key", F.col("count").cast("string").alias("value"))
    return written(rows, "totals", "update").queryName("totals")


def shout(spark):
    values = read(spark, "totals").selectExpr("key", "concat(CAST(value AS STRING), '!') AS value")
    return written(values, "shout").queryName("shout")
"""


_STARTING = threading.Lock()


class ChainQuery(Driven):
    """One of the queries, in the tests' own session, started and stopped by its commands."""

    def __init__(self, spark, team, name, retain=100):
        folder = team.folder / name
        folder.mkdir()
        super().__init__(folder)
        self.spark, self.name, self.retain = spark, name, retain
        self.checkpoint = folder / "checkpoint"
        place = f"cd {shlex.quote(str(folder))} || exit 1; "
        self.commands: dict[str, str] = {w: place + text for w, text in COMMANDS.items()}
        self._module = team.folder / "chain_code.py"

    def begin(self):
        spec = importlib.util.spec_from_file_location("chain_code", self._module)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        writer = getattr(module, self.name)(self.spark)
        # Each query keeps what the session says at its start.
        with _STARTING:
            self.spark.conf.set("spark.sql.streaming.minBatchesToRetain", str(self.retain))
            return writer.option("checkpointLocation", str(self.checkpoint)).start()

    @property
    def entry(self):
        return self.table(self.name, f'entry_point = "chain_code:{self.name}"').replace(
            'checkpoint = "checkpoint"', f'checkpoint = "{self.name}/checkpoint"'
        )


def write_code(team, **topics):
    (team.folder / "chain_code.py").write_text(SOURCE)
    given = {"bootstrap": team.bootstrap, **topics}
    (team.folder / "chain.json").write_text(json.dumps(given))


def member_entry(team, name, group, topic):
    """The table of a consumer group whose only member is a stand-in."""
    out = team.folder / f"{name}.jsonl"
    argv = ("group", team.bootstrap, str(out), topic, "--group", group)
    program = shlex.join([sys.executable, str(STAND_IN), *argv])
    commands = {
        "start": f"nohup {program} > {name}.log 2>&1 & echo $! > pipeline.pid",
        "stop": STOP,
        "status": STATUS,
    }
    lines = [f"{word} = {json.dumps(text)}" for word, text in commands.items()]
    head = [f'[[pipeline]]\nname = "{name}"\nengine = "consumer-group"\ngroup = "{group}"']
    return "\n".join([*head, f'topics = ["{topic}"]', "[pipeline.commands]", *lines]), commands
