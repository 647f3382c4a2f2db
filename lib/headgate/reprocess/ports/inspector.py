"""What plans see of the world, and the few effects that steps have on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from headgate.model.version import Version
from headgate.reprocess.ports.checkpoint_location import (
    RemoteCheckpointApplier,
    RemoteCheckpointInspector,
)
from headgate.reprocess.ports.checkpoints import (
    CheckpointApplier,
    CheckpointInspector,
    FolderApplier,
)
from headgate.reprocess.ports.kafka import (
    KafkaApplier,
    KafkaInspector,
    PartitionApplier,
    PartitionInspector,
)
from headgate.reprocess.ports.processes import ProcessApplier, ProcessInspector
from headgate.reprocess.ports.record_backup import RecordBackupApplier
from headgate.reprocess.ports.schema_registry import SchemaApplier, SchemaInspector
from headgate.reprocess.ports.verdict import Output, RunningVersion, Trace, UpgradeVerdict


class Inspector(
    KafkaInspector,
    PartitionInspector,
    SchemaInspector,
    ProcessInspector,
    CheckpointInspector,
    RemoteCheckpointInspector,
    Protocol,
):
    """What a plan may ask; every answer is read anew. UnreachableError where nothing answers."""

    def described(self, pipeline: str) -> Version | None:
        """Return what the registered `evidence` of a pipeline says, None if it has none.

        EvidenceError if it can't be read.
        """

    def verdict(
        self, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
    ) -> UpgradeVerdict:
        """Judge the version `after` (evidence) on top of what the pipeline has left by now.

        `before` is evidence of the version that runs, None: what was seen last. EvidenceError and
        CaptureError where either can't be read.
        """

    def running_version(
        self, pipeline: str, after: str, version: str, trace: Trace
    ) -> RunningVersion:
        """Compare what runs with `after`, whose fingerprint was `version` when it was judged.

        EvidenceError and CaptureError where `after` can't be read; what runs not being told is an
        answer.
        """

    def outputs(self, pipeline: str, query_id: str | None = None) -> tuple[Output, ...]:
        """Return where watch and registered evidence say that a Spark query writes; it never fails.

        With `query_id` only runs of that query count. None of them telling is an answer.
        """


class Applier(
    Inspector,
    KafkaApplier,
    PartitionApplier,
    RecordBackupApplier,
    SchemaApplier,
    ProcessApplier,
    CheckpointApplier,
    FolderApplier,
    RemoteCheckpointApplier,
    Protocol,
):
    """What steps may do, on top of what plans may ask; StepError where it does not work."""

    @property
    def run(self) -> str:
        """The run's id: names of what a step puts aside end in it."""

    def note(self, message: str) -> None:
        """Tell people how the step gets on."""

    def progress(self, done: int, total: int | None, unit: str) -> None:
        """Tell how far the step is: `done` of `total` `partitions`, `records`, `bytes` or `files`.

        `total` is None where it is not known. Cheap enough to be called in a loop, and never a
        reason to fail.
        """

    def pause(self, seconds: float) -> None:
        """Wait; here a cancelled run stops (RunCancelledError) and one whose worker ends parks."""
