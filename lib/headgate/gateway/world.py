"""The real world behind plans and runs: Kafka, checkpoint folders, registered commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from headgate.errors import StepError
from headgate.gateway import checkpoints, kafka_offsets
from headgate.gateway.kafka import Kafka
from headgate.gateway.kafka_open import open_kafka
from headgate.gateway.processes import Ended, end_marked, marked, run_command
from headgate.model.cluster import Group, GroupOffset, Topic
from headgate.model.registry import Pipeline, Registry
from headgate.plan.world import Checkpoint, Status

STATUS_SECONDS = 30.0
COMMAND_SECONDS = 300.0
_RUNS, _STOPPED = 0, 3


class LiveWorld:
    """Answers from the systems that the registry names; see `plan.world.World`.

    Kafka is asked only for what concerns it: a query over files needs no broker.
    """

    def __init__(self, registry: Registry, home: Path) -> None:
        self.registry = registry
        self.home = home

    @cached_property
    def kafka(self) -> Kafka:
        """The registry's cluster."""
        return open_kafka(self.registry)

    def close(self) -> None:
        """Let go of the connections."""
        if "kafka" in self.__dict__:
            self.kafka.close()

    def has_cluster(self) -> bool:
        """Return whether the registry names a Kafka cluster."""
        return bool(self.registry.bootstrap_servers)

    def cluster_id(self) -> str:
        """Return the Kafka cluster's id."""
        return self.kafka.cluster_id()

    def topics(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """Return those of the topics that exist, with begin and end offsets."""
        wanted = list(names)
        return self.kafka.topics(wanted) if wanted else {}

    def group(self, group_id: str) -> Group:
        """Return a group with its committed offsets."""
        return self.kafka.describe_group(group_id)

    def checkpoint(self, location: str) -> Checkpoint | None:
        """Return the checkpoint there, or None where there is none."""
        return checkpoints.read_checkpoint(location)

    def status(self, pipeline: str) -> Status:
        """Ask the pipeline's status command: 0 runs, 3 does not, anything else is unknown."""
        registered = self.registered(pipeline)
        command = registered.commands.status if registered else None
        if command is None:
            return Status.UNKNOWN
        ended = self._shell(command, log="status", seconds=STATUS_SECONDS)
        return {_RUNS: Status.RUNS, _STOPPED: Status.STOPPED}.get(
            -1 if ended.code is None else ended.code, Status.UNKNOWN
        )

    def registered(self, pipeline: str) -> Pipeline | None:
        """Return the pipeline as the registry has it."""
        return self.registry.pipeline(pipeline)

    def _shell(self, command: str, *, log: str, seconds: float, mark: str = "") -> Ended:
        folder = Path(self.registry.path).parent if self.registry.path else Path.cwd()
        place = self.home / "logs" / f"{log}.log"
        return run_command(command, folder=folder, log=place, seconds=seconds, mark=mark)


class LiveEffects(LiveWorld):
    """What a run's steps may do; see `plan.world.Effects`.

    `pause` and `note` come from whoever executes the run.
    """

    def __init__(
        self,
        registry: Registry,
        home: Path,
        *,
        run: str,
        pause: Callable[[float], None],
        note: Callable[[str], None],
    ) -> None:
        super().__init__(registry, home)
        self._run = run
        self._pause = pause
        self._note = note

    @property
    def run(self) -> str:
        """The run's id."""
        return self._run

    def command(self, pipeline: str, word: str) -> None:
        """Run the registered command `start` or `stop`; StepError unless it exits 0 in time.

        What an earlier try of this run left of the same command is ended first.
        """
        registered = self.registered(pipeline)
        command = getattr(registered.commands, word) if registered else None
        if command is None:
            raise StepError(f"{pipeline} has no {word} command")
        self.note(f"{word}: `{command}`")
        mark = self._mark(pipeline, word)
        # What a try before a crash left half-way must not go on beside this one.
        end_marked(mark)
        log = f"run-{self.run}-{word}"
        ended = self._shell(command, log=log, seconds=COMMAND_SECONDS, mark=mark)
        if ended.code != 0:
            how = "did not end in time" if ended.code is None else f"exited {ended.code}"
            said = f": {ended.output}" if ended.output else ""
            raise StepError(f"the {word} command of {pipeline} {how}{said}")

    def has_left(self, pipeline: str, word: str) -> bool:
        """Return whether something that this run's command started still lives."""
        return bool(marked(self._mark(pipeline, word)))

    def _mark(self, pipeline: str, word: str) -> str:
        return f"{self.run}:{pipeline}:{word}"

    def alter_offsets(self, group_id: str, offsets: Iterable[GroupOffset]) -> None:
        """Commit offsets for a group without members."""
        targets = {
            (o.topic, o.partition): (o.offset, o.leader_epoch, o.metadata)
            for o in offsets
            if o.offset is not None
        }
        kafka_offsets.alter_offsets(self.kafka, group_id, targets)

    def delete_offsets(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        """Remove committed offsets of a group without members."""
        kafka_offsets.delete_offsets(self.kafka, group_id, list(partitions))

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder is there."""
        return checkpoints.local_path(path).exists()

    def tree_hash(self, path: str) -> str | None:
        """Return a hash over every file's name and bytes, None where the folder is not there."""
        return checkpoints.tree_hash(Path(path))

    def snapshot_place(self) -> str:
        """Return the folder that is this run's own."""
        return str(self.home / "runs" / self.run)

    def copy_tree(self, path: str, to: str) -> None:
        """Copy a folder and force it to disk."""
        self._own(to)
        checkpoints.copy_tree(Path(path), Path(to))

    def move(self, path: str, to: str) -> None:
        """Rename a folder in one step."""
        checkpoints.move(Path(path), Path(to))

    def make_like(self, path: str, like: str) -> None:
        """Make an empty folder with the owner and the rights of `like`."""
        checkpoints.make_like(Path(path), Path(like))

    def remove_tree(self, path: str) -> None:
        """Remove a folder below this home's runs, and its parent where that is empty then."""
        self._own(path)
        checkpoints.remove_tree(Path(path))
        with suppress(OSError):
            Path(path).parent.rmdir()

    def write_record(self, path: str, text: str) -> None:
        """Write a file in one step, forced to disk."""
        self._own(path)
        checkpoints.write_file(Path(path), text)

    def note(self, message: str) -> None:
        """Tell people how the step gets on."""
        self._note(message)

    def pause(self, seconds: float) -> None:
        """Wait; see `plan.world.Effects`."""
        self._pause(seconds)

    def _own(self, path: str) -> None:
        """Copies and removals stay below the folder of the runs, whatever a plan says."""
        if not Path(path).resolve().is_relative_to((self.home / "runs").resolve()):
            raise StepError(f"{path} is not below {self.home / 'runs'}: not touched")
