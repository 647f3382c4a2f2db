"""The real world behind plans and runs: Kafka, checkpoint folders, registered commands."""

from __future__ import annotations

from pathlib import Path

from headgate.gateway.adapters.checkpoint_location import RemoteCheckpointAdapter
from headgate.gateway.adapters.checkpoints import CheckpointAdapter
from headgate.gateway.adapters.dead_letters import DeadLetterAdapter
from headgate.gateway.adapters.evidence import EvidenceAdapter
from headgate.gateway.adapters.folders import FolderAdapter
from headgate.gateway.adapters.kafka import KafkaAdapter
from headgate.gateway.adapters.processes import ProcessAdapter
from headgate.gateway.adapters.record_backup import RecordBackupAdapter
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.schedules import ScheduleAdapter
from headgate.gateway.adapters.schema_registry import SchemaAdapter
from headgate.gateway.adapters.sinks import SinkAdapter
from headgate.gateway.adapters.spark_jobs import SparkJobAdapter
from headgate.gateway.adapters.state import StateAdapter
from headgate.gateway.adapters.tables import TableAdapter
from headgate.model.registered_pipelines import Registry
from headgate.text.private_files import private_folder


class LiveInspector:
    """Answers from the systems that the registry names; see `ports.inspector.Inspector`."""

    def __init__(self, registry: Registry, home: Path) -> None:
        self._connect(RunContext(registry=registry, home=home))

    def _connect(self, context: RunContext) -> None:
        self.context = context
        self.kafka = KafkaAdapter(context)
        self.schemas = SchemaAdapter(context)
        self.processes = ProcessAdapter(context)
        self.checkpoints = CheckpointAdapter(context)
        self.state = StateAdapter(context)
        self.sinks = SinkAdapter(context)
        self.remote_checkpoints = RemoteCheckpointAdapter(context)
        self.evidence = EvidenceAdapter()
        self.spark_jobs = SparkJobAdapter(context)
        self.dead_letters = DeadLetterAdapter(context, self.kafka)
        self.schedules = ScheduleAdapter(context)
        self.tables = TableAdapter(context)

    def close(self) -> None:
        """Let go of the connections."""
        self.kafka.close()


class LiveApplier(LiveInspector):
    """What a run's steps may do; see `reprocess.ports.inspector.Applier`.

    `pause`, `note`, `progress` and `switch_checkpoint` come from whoever executes the run.
    """

    def __init__(self, context: RunContext) -> None:
        private_folder(context.home)
        self._connect(context)
        self.folders = FolderAdapter(context)
        self.records = RecordBackupAdapter(context, self.kafka)

    @property
    def run(self) -> str:
        """The run's id."""
        return self.context.run

    def note(self, message: str) -> None:
        """Report the progress of the step in words."""
        self.context.note(message)

    def progress(self, done: int, total: int | None, unit: str) -> None:
        """Report how far the step is; see `reprocess.ports.inspector.Applier`."""
        self.context.progress(done, total, unit)

    def pause(self, seconds: float) -> None:
        """Wait; see `reprocess.ports.inspector.Applier`."""
        self.context.pause(seconds)
