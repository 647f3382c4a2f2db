"""A real standalone Spark cluster: one master and two workers on loopback, of PySpark's own jars.

    from support.standalone_cluster import standalone_cluster  # noqa: F401  a session's fixture

Its value is a `Cluster`: `master` is the address for `[spark] master`, `config` what a small driver
and its executors need, and `executors()` the processes that work for applications now.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.gateway.process.child_process import Program, descendants
from headgate.gateway.process.java import java
from headgate.gateway.process.supervise import Supervisor
from support.ports import free_port
from support.waiting import until

WORKERS = 2
_SMALL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that runs."""

    master: str
    web: str
    config: dict[str, str]
    supervisor: Supervisor

    def executors(self) -> list[int]:
        """Return the processes of all executors that live."""
        found = []
        for pid in descendants(os.getpid()):
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if _EXECUTOR.encode() in line:
                found.append(pid)
        return found


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Start master and workers, yield them once the workers are known, and end all."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port, web = free_port(), free_port()
    master = f"spark://127.0.0.1:{port}"
    # Its other port is a fixed one.
    off = "-Dspark.master.rest.enabled=false"
    start = (str(java()), "-Xmx256m", off, *_SMALL.split(), "-cp", f"{home / 'jars'}/*")
    # What the scripts of an installed Spark would set.
    env = {"SPARK_HOME": str(home), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": "127.0.0.1"}
    at = ("--host", "127.0.0.1")

    def program(name: str, *argv: str) -> Program:
        return Program(
            name=name, argv=(*start, *argv), log=folder / f"{name}.log", env=env, cwd=folder
        )

    with Supervisor() as supervisor:
        kind = "org.apache.spark.deploy.master.Master"
        ports = ("--port", str(port), "--webui-port", str(web))
        supervisor.start(program("master", kind, *at, *ports))
        for number in range(WORKERS):
            kind = "org.apache.spark.deploy.worker.Worker"
            room = ("--cores", "1", "--memory", "1g", "--webui-port", str(free_port()))
            work = ("--work-dir", str(folder / f"work-{number}"))
            supervisor.start(program(f"worker-{number}", kind, *at, *room, *work, master))
        address = f"http://127.0.0.1:{web}/json/"
        _wait_for_workers(address, folder)
        yield Cluster(master, address, _config(), supervisor)


def _config() -> dict[str, str]:
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": _SMALL,
        "spark.executor.extraJavaOptions": _SMALL,
    }


def _wait_for_workers(address: str, folder: Path) -> None:
    def is_up() -> bool:
        with suppress(OSError, ValueError), urllib.request.urlopen(address, timeout=5) as answer:
            return json.load(answer)["aliveworkers"] >= WORKERS
        return False

    until(is_up, lambda: [f.read_text()[-500:] for f in folder.glob("*.log")], every=0.5)


@pytest.fixture(scope="session")
def standalone_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all tests of a session."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster
