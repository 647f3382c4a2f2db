"""What the cells of a matrix share: a broker that may be stopped, a folder, small disks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from headgate.gateway.kafka_broker.local_broker import NAME as BROKER
from headgate.gateway.kafka_broker.local_broker import start_broker
from headgate.gateway.process.supervise import Supervisor
from scenes.forked import Forks
from scenes.scene import Scene
from scenes.trial import Trial
from support.standalone_cluster import Cluster, running_cluster

_DISK = "16m"
_ONE_CLUSTER = Lock()


class Kafka:
    """The broker of a matrix, which may be stopped and comes back with its data and address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._supervisor = Supervisor()
        self.address = start_broker(self._supervisor, folder)

    @property
    def is_up(self) -> bool:
        """Whether it runs."""
        return self._supervisor.is_running(BROKER)

    def stop(self) -> None:
        """Stop it, as for an upgrade."""
        self._supervisor.stop(BROKER)

    def kill(self) -> None:
        """Kill it, as where its machine fails."""
        child = self._supervisor.child(BROKER)
        assert child is not None
        os.kill(child.process.pid, signal.SIGKILL)
        self.stop()

    def start(self) -> None:
        """Start it where it was."""
        port = int(self.address.rpartition(":")[2])
        assert start_broker(self._supervisor, self._folder, port=port) == self.address

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let it answer nobody for a while, with its connections open."""
        child = self._supervisor.child(BROKER)
        assert child is not None
        os.kill(child.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(child.process.pid, signal.SIGCONT)

    def close(self) -> None:
        """End it for good."""
        self._supervisor.close()


@dataclass(frozen=True, slots=True)
class Lab:
    """What all cells share."""

    folder: Path
    kafka: Kafka
    forks: Forks

    @contextmanager
    def trial(
        self, kind: type[Scene], *, small_disk: bool = False, on_cluster: bool = False
    ) -> Iterator[Trial]:
        """Yield the scene at work in a new folder, whose `.headgate` may be a small disk.

        `on_cluster`, its Spark programs run on a standalone cluster of its own.
        """
        folder = Path(tempfile.mkdtemp(prefix=f"{kind.name}-", dir=self.folder))
        with ExitStack() as stack:
            if small_disk:
                stack.enter_context(_small(folder / ".headgate"))
            trial = Trial(kind(folder, self.kafka.address), self.forks)
            if on_cluster:
                trial.scene.cluster = stack.enter_context(_cluster(folder / "cluster"))
            try:
                trial.scene.prepare()
                yield trial
            finally:
                trial.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _cluster(folder: Path) -> Iterator[Cluster]:
    """Yield a cluster; there is one at a time, as its workers need a processor each."""
    folder.mkdir()
    with _ONE_CLUSTER, running_cluster(folder) as cluster:
        yield cluster


@contextmanager
def _small(folder: Path) -> Iterator[None]:
    """Make the folder a file system of a few megabytes for a while."""
    folder.mkdir()
    options = ("-t", "tmpfs", "-o", f"size={_DISK}", "headgate-faults")
    subprocess.run(["mount", *options, str(folder)], check=True, capture_output=True)
    try:
        yield
    finally:
        with suppress(subprocess.CalledProcessError):
            subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


def may_mount() -> bool:
    """Return whether this process may mount a small file system."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _small(Path(folder) / "disk"):
                return True
        except (subprocess.CalledProcessError, OSError):
            return False


def begin_anew_where_disks_are_ours(argv: Sequence[str]) -> None:
    """Become `argv` in a name space of its own where this user may mount; return where none is.

    Most systems let anybody have one, containers often don't.
    """
    own = ("unshare", "--user", "--map-root-user", "--mount")
    if os.geteuid() == 0 or may_mount() or shutil.which(own[0]) is None:
        return
    if subprocess.run([*own, "true"], check=False, capture_output=True).returncode == 0:
        os.execvp(own[0], [*own, sys.executable, *argv])
