"""The real world behind plans and runs: Kafka, checkpoint folders, registered commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headgate.gateway.adapters.checkpoint_history import (
    RepairApplier,
    RepairInspector,
    RewindApplier,
    RewindInspector,
)
from headgate.gateway.adapters.checkpoint_location import (
    LiveRemoteCheckpointApplier,
    LiveRemoteCheckpointInspector,
)
from headgate.gateway.adapters.checkpoints import (
    LiveFolderApplier,
    LiveFolderInspector,
    NewCheckpointApplier,
    NewCheckpointInspector,
    StateApplier,
    StateInspector,
)
from headgate.gateway.adapters.commands import CommandApplier, CommandInspector
from headgate.gateway.adapters.driver_requests import DriverRequestApplier
from headgate.gateway.adapters.driver_status import DriverStatusInspector
from headgate.gateway.adapters.kafka import (
    GroupApplier,
    GroupInspector,
    LiveKafkaApplier,
    LiveKafkaInspector,
)
from headgate.gateway.adapters.record_backup_and_topics import TopicApplier, TopicInspector
from headgate.gateway.adapters.schema_registry import LiveSchemaApplier, LiveSchemaInspector
from headgate.gateway.adapters.verdicts import VerdictInspector
from headgate.model.registered_pipelines import Registry
from headgate.text.private_files import private_folder


class LiveInspector(
    RewindInspector,
    NewCheckpointInspector,
    StateInspector,
    GroupInspector,
    TopicInspector,
    LiveKafkaInspector,
    LiveFolderInspector,
    LiveRemoteCheckpointInspector,
    CommandInspector,
    DriverStatusInspector,
    RepairInspector,
    VerdictInspector,
    LiveSchemaInspector,
):
    """Answers from the systems that the registry names; see `ports.inspector.Inspector`."""

    def __init__(self, registry: Registry, home: Path) -> None:
        self.registry = registry
        self.home = home


class LiveApplier(
    LiveInspector,
    RewindApplier,
    NewCheckpointApplier,
    StateApplier,
    GroupApplier,
    TopicApplier,
    LiveKafkaApplier,
    LiveFolderApplier,
    LiveRemoteCheckpointApplier,
    DriverRequestApplier,
    CommandApplier,
    RepairApplier,
    LiveSchemaApplier,
):
    """What a run's steps may do; see `reprocess.ports.inspector.Applier`.

    `pause`, `note`, `progress` and `switch_checkpoint` come from whoever executes the run.
    """

    def __init__(
        self,
        registry: Registry,
        home: Path,
        *,
        run: str,
        pause: Callable[[float], None],
        note: Callable[[str], None],
        ask: Callable[[str, str], str | None] = lambda _word, _request: None,
        progress: Callable[[int, int | None, str], None] = lambda _done, _total, _unit: None,
        switch_checkpoint: Callable[
            [str, str, str], None
        ] = lambda _pipeline, _declared, _location: None,
    ) -> None:
        super().__init__(registry, home)
        private_folder(home)
        self._run = run
        self._pause = pause
        self._note = note
        self._ask = ask
        self._progress = progress
        self._switch_checkpoint = switch_checkpoint

    @property
    def run(self) -> str:
        """The run's id."""
        return self._run

    def note(self, message: str) -> None:
        """Tell people how the step gets on."""
        self._note(message)

    def progress(self, done: int, total: int | None, unit: str) -> None:
        """Tell how far the step is; see `reprocess.ports.inspector.Applier`."""
        self._progress(done, total, unit)

    def ask(self, word: str, request: str) -> str | None:
        """Ask a person, and return who confirmed it; None as long as nobody did."""
        return self._ask(word, request)

    def pause(self, seconds: float) -> None:
        """Wait; see `reprocess.ports.inspector.Applier`."""
        self._pause(seconds)
