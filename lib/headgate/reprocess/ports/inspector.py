"""What plans read, and the few effects that steps have, cut by subject."""

from __future__ import annotations

from typing import Protocol

from headgate.reprocess.ports.checkpoint_location import (
    RemoteCheckpointApplier,
    RemoteCheckpointInspector,
)
from headgate.reprocess.ports.checkpoints import CheckpointApplier, CheckpointInspector
from headgate.reprocess.ports.dead_letters import DeadLetterApplier, DeadLetterInspector
from headgate.reprocess.ports.evidence import EvidenceInspector
from headgate.reprocess.ports.folders import FolderApplier
from headgate.reprocess.ports.kafka import KafkaApplier, KafkaInspector
from headgate.reprocess.ports.processes import ProcessApplier, ProcessInspector
from headgate.reprocess.ports.record_backup import RecordBackupApplier
from headgate.reprocess.ports.schedules import ScheduleApplier, ScheduleInspector
from headgate.reprocess.ports.schema_registry import SchemaApplier, SchemaInspector
from headgate.reprocess.ports.sinks import SinkApplier, SinkInspector
from headgate.reprocess.ports.spark_jobs import SparkJobApplier, SparkJobInspector
from headgate.reprocess.ports.state import StateApplier, StateInspector
from headgate.reprocess.ports.tables import TableApplier, TableInspector


class Inspector(Protocol):
    """What a plan may ask; no answer is cached. UnreachableError where nothing answers."""

    @property
    def kafka(self) -> KafkaInspector:
        """Groups, topics and transactions."""

    @property
    def schemas(self) -> SchemaInspector:
        """Subjects of the schema registry."""

    @property
    def processes(self) -> ProcessInspector:
        """Registered pipelines and what their drivers report."""

    @property
    def checkpoints(self) -> CheckpointInspector:
        """Checkpoints and their logs."""

    @property
    def state(self) -> StateInspector:
        """The state in checkpoints."""

    @property
    def sinks(self) -> SinkInspector:
        """The logs of file sinks."""

    @property
    def remote_checkpoints(self) -> RemoteCheckpointInspector:
        """Checkpoints on remote file systems."""

    @property
    def evidence(self) -> EvidenceInspector:
        """Versions and verdicts."""

    @property
    def spark_jobs(self) -> SparkJobInspector:
        """Spark programs that process data."""

    @property
    def dead_letters(self) -> DeadLetterInspector:
        """Dead letter topics."""

    @property
    def schedules(self) -> ScheduleInspector:
        """Schedules of bounded runs."""

    @property
    def tables(self) -> TableInspector:
        """Tables of databases."""


class Applier(Inspector, Protocol):
    """What steps may do, on top of what plans may ask; StepError where it does not work."""

    @property
    def kafka(self) -> KafkaApplier:
        """Groups, topics and transactions."""

    @property
    def schemas(self) -> SchemaApplier:
        """Subjects of the schema registry."""

    @property
    def processes(self) -> ProcessApplier:
        """Registered pipelines and what their drivers report."""

    @property
    def checkpoints(self) -> CheckpointApplier:
        """Checkpoints and their logs."""

    @property
    def state(self) -> StateApplier:
        """The state in checkpoints."""

    @property
    def sinks(self) -> SinkApplier:
        """The logs of file sinks."""

    @property
    def remote_checkpoints(self) -> RemoteCheckpointApplier:
        """Checkpoints on remote file systems."""

    @property
    def spark_jobs(self) -> SparkJobApplier:
        """Spark programs that process data."""

    @property
    def folders(self) -> FolderApplier:
        """Folders and files."""

    @property
    def records(self) -> RecordBackupApplier:
        """Records in backup topics."""

    @property
    def dead_letters(self) -> DeadLetterApplier:
        """Dead letter topics."""

    @property
    def schedules(self) -> ScheduleApplier:
        """Schedules of bounded runs."""

    @property
    def tables(self) -> TableApplier:
        """Tables of databases."""

    @property
    def run(self) -> str:
        """The run's id: names of what a step moves to backup end in it."""

    def note(self, message: str) -> None:
        """Report the step's progress as a text for people."""

    def progress(self, done: int, total: int | None, unit: str) -> None:
        """Report the step's progress: `done` of `total` partitions, records, bytes or files.

        `unit` is `partitions`, `records`, `bytes` or `files`. `total` is None if it isn't known.
        Cheap enough to be called in a loop, and never a reason to fail.
        """

    def pause(self, seconds: float) -> None:
        """Wait; a cancelled run stops here (RunCancelledError), as does one whose worker ends."""
