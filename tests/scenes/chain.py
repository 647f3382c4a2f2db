"""A query begins again, and two groups that read what it writes continue after that."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import closing
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from headgate.model.version import Engine, Sink, Source, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from headgate.usecases.context import open_context
from scenes.generations import Generation, generations
from scenes.records import make_topic, read_all, write_history
from scenes.scene import STAND_IN, STATUS, STOP, _is_committed
from scenes.spark.from_scratch import FromScratchSpark

_BEHIND = 5


class ChainSpark(FromScratchSpark):
    """From the earliest offsets. `audit` has read all that the query wrote, `billing` is stopped.

    What the stopped group has not read is written again, so it must never read it.
    """

    name = "chain-spark"
    scenario = "chain"
    arguments = ("--to-earliest",)

    def make_ready(self) -> None:
        """Take over Spark's checkpoint, and the topic that the query has written."""
        super().make_ready()
        self.results, self.group = self.unique("results"), self.unique("audit")
        self.stopped = self.unique("billing")
        make_topic(self.bootstrap, self.results, self.partitions)
        write_history(self.bootstrap, self.results, self.partitions)
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": self.stopped})
        for number in range(self.partitions):
            part = TopicPartition(self.results, number, _BEHIND)
            self.wait(lambda part=part: _is_committed(consumer, part), "no coordinator")
        consumer.close()

    def register(
        self, fields: dict[str, object], commands: dict[str, str], store: str = ""
    ) -> None:
        """Register the groups, too, and store what the query reads and writes."""
        super().register(fields, commands, store)
        entries = (self._entry("audit", self.group), self._entry("billing", self.stopped))
        self.config.write_text("\n".join((self.config.read_text(), *entries)))
        version = Version(
            engine=Engine.SPARK,
            sources=(
                Source(
                    position=0,
                    format="kafka",
                    topics=self.topics,
                    options={"startingOffsets": "earliest"},
                ),
            ),
            sink=Sink(format="kafka", target=self.results),
            stateful=(),
        )
        with closing(open_store(open_context(str(self.config)).store_url)) as opened:
            opened.versions.add(self.pipeline, version, fingerprint(version))
        assert self.shell(self._commands("audit", self.group)["start"]) == 0
        ends = self._ends()
        self.wait(
            lambda: self._member("audit") and self._member("audit")[0].committed == ends,
            "audit has not read everything",
        )

    def _entry(self, name: str, group: str) -> str:
        lines = [f"{k} = {json.dumps(v)}" for k, v in self._commands(name, group).items()]
        given = {"name": name, "engine": "consumer-group", "group": group}
        head = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
        topics = f"topics = {json.dumps([self.results])}"
        return "\n".join(("[[pipeline]]", *head, topics, "[pipeline.commands]", *lines))

    def _commands(self, name: str, group: str) -> dict[str, str]:
        argv = (str(STAND_IN), "group", self.bootstrap, str(self._out(name)), self.results)
        program = shlex.join([sys.executable, *argv, "--group", group])
        start = f"nohup {program} > {name}.log 2>&1 & echo $! > {name}.pid"
        stop, status = (text.replace("pipeline.pid", f"{name}.pid") for text in (STOP, STATUS))
        return {"start": start, "stop": stop, "status": status}

    def _out(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"

    def _member(self, name: str) -> list[Generation]:
        return generations(self._out(name))

    def _ends(self) -> dict[str, int]:
        found = read_all(self.bootstrap, [self.results])
        return {f"{t}-{p}": rows[-1].offset + 1 for (t, p), rows in found.items()}

    def check_end(self) -> None:
        """The query began again, and both groups stand after everything that it will replace."""
        super().check_end()
        ends = self._ends()
        for name in ("audit", "billing"):
            self.wait(lambda name=name: self._runs(name), f"{name} was not started")
            self.wait(lambda name=name: bool(self._member(name)), f"{name} has no partitions")
            assert self._member(name)[-1].at == ends, f"{name} begins elsewhere"
        assert not any(life.read for life in self._member("billing")), "it read what is replaced"

    def check_undone(self) -> None:
        """The query continues where it was, as does who ran; the other is stopped at its offset."""
        super().check_undone()
        self.wait(lambda: self._runs("audit"), "audit was not started")
        self.wait(lambda: not self._runs("billing"), "billing was not stopped")
        found = self.committed(self.stopped)
        assert {part: at for part, (at, _) in found.items()} == {
            (self.results, number): _BEHIND for number in range(self.partitions)
        }

    def _runs(self, name: str) -> bool:
        return self.shell(STATUS.replace("pipeline.pid", f"{name}.pid")) == 0

    def close(self) -> None:
        """End the groups' members, too."""
        for name in ("audit", "billing"):
            self.shell(STOP.replace("pipeline.pid", f"{name}.pid"))
        super().close()
