"""What tests of runs share: a team's folder with its registry, the command, groups of Kafka."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.cli.shared.show_plan import plan_lines
from headgate.reprocess.plan import load_plan
from headgate.store import open_store
from headgate.usecases.context import open_context
from support import resettable
from support.standalone_cluster import standalone_cluster  # noqa: F401  a fixture of the session
from support.waiting import PATIENCE, until


@dataclass
class Team:
    """A folder with a headgate.toml, and the command run in it."""

    folder: Path
    bootstrap: str

    def register(self, *tables: str) -> None:
        head = f'[kafka]\nbootstrap_servers = "{self.bootstrap}"\n'
        (self.folder / "headgate.toml").write_text("\n".join([head, *tables]))

    @property
    def config(self) -> str:
        return str(self.folder / "headgate.toml")

    @property
    def context(self):
        return open_context(self.config)

    def store(self):
        return open_store(self.context.store_url)

    def popen(self, *args: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "headgate.cli.main", "--config", self.config, *args],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *args: str, code: int | None = 0) -> dict:
        """Run a command with `--format json` and return what it printed; None is any exit code."""
        process = self.popen(*args, "--format", "json")
        out, err = process.communicate(timeout=600)
        assert code in (None, process.returncode), (
            f"{process.returncode}\n{out}\n{err}{self.worker_log()}"
        )
        return json.loads(out) if out else {"error": err}

    def worker_log(self) -> str:
        log = self.folder / ".headgate" / "logs" / "worker.log"
        return log.read_text() if log.exists() else ""

    def kill_workers(self) -> None:
        """End the workers without a word, as a crash of the machine does."""
        for pid in worker_pids(self):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not worker_pids(self), "a killed worker does not end")

    def start_worker(self) -> None:
        """Start another worker, which continues what a killed one left."""
        with (self.folder / "next-worker.log").open("ab") as log:
            argv = [sys.executable, "-m", "headgate.worker.main", "--config", self.config]
            subprocess.Popen(argv, cwd=self.folder, stdout=log, stderr=log)

    def ended(self, run: str) -> str:
        """Return the state in which a run has ended."""
        until(lambda: not self._row(run).state.is_active, self.worker_log, every=0.2)
        return str(self._row(run).state)

    def _row(self, run: str):
        with closing(self.store()) as store:
            return store.runs.get(run)

    def plan(
        self, pipeline: str, *options: str, scenario: str = "from-scratch", code: int | None = 0
    ) -> tuple[Path, dict]:
        file = self.folder / f"{pipeline}.plan.json"
        made = self.run("plan", scenario, pipeline, *options, "-o", str(file), code=code)
        if code in (0, 3):
            # `run` asks for JSON. What a person reads is made of the same plan.
            assert all(plan_lines(load_plan(file.read_text(), source=str(file))))
        return file, made


@pytest.fixture(scope="session")
def class_path(tmp_path_factory):
    """The class path of `Resettable`, a Kafka Streams application."""
    return resettable.compiled(tmp_path_factory.mktemp("resettable"))


@pytest.fixture
def team(tmp_path, broker):
    made = Team(tmp_path, broker)
    yield made
    end_workers(made)


def worker_pids(team: Team) -> list[int]:
    """The workers of this team's file: no other process has its path on the command line."""
    pids = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"headgate.worker.main" in line and team.config.encode() in line:
            pids.append(int(entry.name))
    return pids


def end_workers(team: Team) -> None:
    for pid in worker_pids(team):
        os.kill(pid, signal.SIGTERM)
    until(lambda: not worker_pids(team), "a worker does not end", every=0.1)


@dataclass
class Groups:
    """Consumer groups of the tests' broker."""

    bootstrap: str

    def commit(self, group: str, offsets: dict[tuple[str, int], tuple[int, str]]) -> None:
        from confluent_kafka import Consumer, KafkaException, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": group})
        parts = [TopicPartition(t, p, o, metadata=m) for (t, p), (o, m) in offsets.items()]
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                consumer.commit(offsets=parts, asynchronous=False)
                break
            except KafkaException as error:
                # A broker that has just come up has no coordinator, or is still loading it.
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        consumer.close()

    def committed(self, group: str) -> dict[tuple[str, int], tuple[int, str | None]]:
        from headgate.gateway.kafka.cluster import Kafka
        from headgate.gateway.kafka.committed_offsets import read_offsets

        with Kafka(self.bootstrap) as kafka:
            found = read_offsets(kafka, group)
        return {key: (o.offset, o.metadata) for key, o in found.items()}

    def member(self, group: str, topic: str):
        """A live member, which has its partitions when this returns."""
        from confluent_kafka import Consumer

        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe([topic])
        deadline = time.monotonic() + PATIENCE
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.2)
        assert consumer.assignment()
        return consumer


@pytest.fixture
def groups(broker):
    return Groups(broker)
