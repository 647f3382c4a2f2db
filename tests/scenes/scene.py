"""What every scene has: a folder with a registry, a pipeline at work, a neighbour left alone."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from confluent_kafka import Consumer, KafkaException, TopicPartition

from headgate.model.version import Engine
from scenes.generations import Generation, generations, wrong_reading
from scenes.records import Part, Writer, make_topic, read_all, write_history
from support.standalone_cluster import Cluster
from support.waiting import PATIENCE, until

STAND_IN = Path(__file__).parent / "stand_in.py"
# A killed process that nobody has reaped yet runs no more: its state is Z.
RUNS = "grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat pipeline.pid)/status"
STATUS = f"[ -e pipeline.pid ] && {RUNS} && exit 0 || exit 3"
STOP = (
    "[ -e pipeline.pid ] || exit 0; kill $(cat pipeline.pid) 2>/dev/null;"
    f" while {RUNS}; do sleep 0.1; done"
)


class Scene(ABC):
    """A pipeline at work in `folder`, over the broker at `bootstrap`; see the package."""

    name: ClassVar[str]
    scenario: ClassVar[str]
    engine: ClassVar[Engine]
    markers: ClassVar[tuple[str, ...]] = ("kafka",)
    pipeline: ClassVar[str] = "scene"
    # What the undo of a whole run is refused with; empty where one puts all back.
    no_rollback: ClassVar[str] = ""
    # Whether its Spark programs may run on a cluster, which is then `cluster`.
    on_cluster: ClassVar[bool] = False
    cluster: Cluster | None = None
    # How long a run may take: up to a minute and a half for a stop, three for a start.
    run_seconds: ClassVar[float] = PATIENCE

    def __init__(self, folder: Path, bootstrap: str) -> None:
        self.folder = folder
        self.bootstrap = bootstrap
        # A database's url; without one the store is a file beside the registry.
        self.store = ""
        self._untouched: dict[Part, tuple[int, str | None]] | None = None
        self._neighbour = self.unique("neighbour")

    @abstractmethod
    def prepare(self) -> None:
        """Make topics and records, register the pipeline, start it."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The plan's arguments behind scenario and pipeline; decided once, in `prepare`."""
        return ()

    @abstractmethod
    def check_end(self) -> None:
        """Assert how things are after the run."""

    @abstractmethod
    def check_undone(self) -> None:
        """Assert that things are as before the run."""

    @abstractmethod
    def close(self) -> None:
        """End what `prepare` started."""

    @property
    def config(self) -> Path:
        """The registry's file."""
        return self.folder / "headgate.toml"

    def unique(self, word: str) -> str:
        """Return a name that no other scene uses."""
        return f"{word}-{uuid.uuid4().hex[:8]}"

    def register(
        self, fields: dict[str, object], commands: dict[str, str], store: str = ""
    ) -> None:
        """Write the registry with this one pipeline; `store` is a database's url."""
        lines = [f"bootstrap_servers = {json.dumps(self.bootstrap)}", "[[pipeline]]"]
        given = {"name": self.pipeline, "engine": self.engine.value, **fields}
        lines += [f"{key} = {json.dumps(value)}" for key, value in given.items()]
        lines += ["[pipeline.commands]", *(f"{k} = {json.dumps(v)}" for k, v in commands.items())]
        head = ["[store]", f"url = {json.dumps(self.store)}"] if self.store else []
        self.config.write_text("\n".join([*head, "[kafka]", *lines]) + "\n")

    def shell(self, command: str) -> int:
        """Run one of the pipeline's commands, as its owner would; returns the exit code."""
        return subprocess.run(command, shell=True, cwd=self.folder, check=False).returncode

    def neighbour(self) -> None:
        """Make another group of the same topics, whose commits nothing may touch."""
        part = TopicPartition(self.topics[0], 0, 3, metadata="ours")
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": self._neighbour})
        self.wait(lambda: _is_committed(consumer, part), "no coordinator for groups")
        consumer.close()
        self._untouched = self.committed(self._neighbour)

    def wait(self, condition: Callable[[], bool], else_: str | Callable[[], str]) -> None:
        """Wait for what is on its way; AssertionError with what is wrong after a while."""
        until(condition, else_, every=0.2)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the pipeline reads."""
        raise NotImplementedError

    def check_neighbour(self) -> None:
        """Assert that nobody touched it, and that no command found its work done already."""
        assert self.committed(self._neighbour) == self._untouched, "the neighbour was touched"
        assert not (self.folder / "twice").exists(), "it was started while it ran"

    def committed(self, group: str) -> dict[Part, tuple[int, str | None]]:
        """Return what the group has committed, with its metadata."""
        from headgate.gateway.kafka.cluster import Kafka
        from headgate.gateway.kafka.committed_offsets import read_offsets

        with Kafka(self.bootstrap) as kafka:
            found = read_offsets(kafka, group)
        return {part: (o.offset, o.metadata) for part, o in found.items()}


def _is_committed(consumer: Consumer, part: TopicPartition) -> bool:
    """Commit; False where the broker, just up, is still loading its groups."""
    try:
        consumer.commit(offsets=[part], asynchronous=False)
    except KafkaException:
        # The client calls none of these errors retriable.
        return False
    return True


class WorkingScene(Scene):
    """A scene whose pipeline is the stand-in: it reads `topics` and writes down what it does."""

    partitions: ClassVar[int] = 2

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._topic = self.unique("orders")
        self._writer: Writer | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The one topic that is read."""
        return (self._topic,)

    @property
    def out(self) -> Path:
        """What the pipeline wrote down."""
        return self.folder / "out.jsonl"

    @abstractmethod
    def fields(self) -> dict[str, object]:
        """Return what the registry says of the pipeline, beside name, engine and commands."""

    @abstractmethod
    def stand_in(self) -> tuple[str, ...]:
        """Return the stand-in's arguments from the kind on."""

    def prepare(self) -> None:
        """Make the topic and its history, start the pipeline and a producer that goes on."""
        make_topic(self.bootstrap, self._topic, self.partitions)
        write_history(self.bootstrap, self._topic, self.partitions)
        self.neighbour()
        self.make_ready()
        self.register(self.fields(), self.commands())
        assert self.shell(self.commands()["start"]) == 0
        self._writer = Writer(self.bootstrap, self._topic, self.partitions)
        self.wait(lambda: self._first_is_up(), "the pipeline did not come up")

    def make_ready(self) -> None:
        """Make what the pipeline needs before its first start."""

    def _first_is_up(self) -> bool:
        lives = generations(self.out)
        return bool(lives and len(lives[0].committed) == self.partitions)

    def commands(self) -> dict[str, str]:
        """Return the registered commands; a start while it runs leaves a file `twice`."""
        program = shlex.join([sys.executable, str(STAND_IN), *self.stand_in()])
        start = (
            f"[ -e pipeline.pid ] && {RUNS} && echo >> twice;"
            f" nohup {program} > pipeline.log 2>&1 & echo $! > pipeline.pid"
        )
        return {"start": start, "stop": STOP, "status": STATUS}

    def lives(self) -> list[Generation]:
        """Return what the pipeline's processes did, the one before the run first."""
        return generations(self.out)

    def truth(self) -> dict[str, tuple[int, int]]:
        """Return begin and end of each partition as the log has it, read directly."""
        found = read_all(self.bootstrap, self.topics)
        return {f"{t}-{p}": (r[0].offset, r[-1].offset + 1) for (t, p), r in found.items()}

    def check_reading(self, since: int) -> None:
        """Assert that the lives from number `since` on read every record there is, in order.

        Exactly one process lives, the last one that began.
        """
        self.wait(self._one_lives, lambda: f"{self._alive()} live, not only {self.lives()[-1].pid}")
        truth = self.truth()
        begins = {p: b for p, (b, _) in truth.items()}
        ends = {p: e for p, (_, e) in truth.items()}

        def wrong() -> str:
            lives = self.lives()[since:]
            return wrong_reading(lives, ends, begins) if lives else "no process was started"

        self.wait(lambda: not wrong(), wrong)

    def check_goes_on(self) -> None:
        """Assert that the last life goes on where the one before the run ended, as its query."""
        self.check_reading(since=-1)
        first, last = self.lives()[0], self.lives()[-1]
        if last.pid != first.pid:
            assert last.query == first.query
            assert last.at == {part: first.position(part) for part in last.at}

    def _one_lives(self) -> bool:
        return self._alive() == [self.lives()[-1].pid]

    def _alive(self) -> list[int]:
        """Return the stand-ins of this scene that run, whoever started them."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                line = (entry / "cmdline").read_bytes().split(b"\0")
                if str(STAND_IN).encode() in line and str(self.out).encode() in line:
                    found.append(int(entry.name))
        return found

    def close(self) -> None:
        """End producer and pipeline."""
        if self._writer is not None:
            self._writer.close()
        self.shell(STOP)


class GroupScene(WorkingScene):
    """A consumer group with one member."""

    engine = Engine.CONSUMER_GROUP

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self.group = self.unique("billing")

    def fields(self) -> dict[str, object]:
        """Return group and topics."""
        return {"group": self.group, "topics": list(self.topics)}

    def stand_in(self) -> tuple[str, ...]:
        """Return the arguments of a member."""
        topics = self.topics
        return ("group", self.bootstrap, str(self.out), *topics, "--group", self.group)


class QueryScene(WorkingScene):
    """A query over Kafka with a checkpoint that Spark wrote."""

    engine = Engine.SPARK

    @property
    def checkpoint(self) -> Path:
        """The checkpoint's folder."""
        return self.folder / "checkpoint"

    def fields(self) -> dict[str, object]:
        """Return the checkpoint."""
        return {"checkpoint": "checkpoint"}

    def stand_in(self) -> tuple[str, ...]:
        """Return the arguments of a query."""
        topics = self.topics
        folder = str(self.checkpoint)
        return ("query", self.bootstrap, str(self.out), *topics, "--checkpoint", folder)
