"""What plans see of the world, and the few effects that steps have on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from headgate.model.cluster import Group, GroupOffset, Topic
from headgate.model.registry import Pipeline
from headgate.model.rewind import LoggedBatch, Rewind, SinkLog, SnapshotSize, StoreRows
from headgate.model.transactions import Transaction
from headgate.plan.checkpoint_files import CheckpointFiles, Edit
from headgate.plan.position import Beginning, QueryPosition
from headgate.plan.verdict import Verdict


class Status(StrEnum):
    """Whether a pipeline runs, as its status command says; UNKNOWN is never read as stopped.

    PAUSED is neither: its processes are up and in their groups.
    """

    RUNS = "runs"
    STOPPED = "stopped"
    PAUSED = "paused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Told:
    """What a pipeline's driver tells of itself: STOPPED is the word of its end, `why` a clause."""

    status: Status
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint as it is now; batches are None where the log is empty.

    `location` has links and relative parts resolved. `offsets` are the newest logged ones of
    Kafka sources by topic and partition. `batch_seconds` is the usual time between two batches,
    None where fewer than two are logged, `busy_seconds` the longest that one of the last took, and
    `quiet_seconds` how long ago the logs moved, None where clocks don't tell. `fixed` says why it
    can't be moved aside in one step, None where it can.
    """

    location: str
    query_id: str
    last_offset_batch: int | None = None
    last_commit_batch: int | None = None
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    batch_seconds: float | None = None
    busy_seconds: float | None = None
    quiet_seconds: float | None = None
    fixed: str | None = None

    @property
    def head(self) -> tuple[int | None, int | None]:
        """The newest batches of both logs: a query that runs moves them."""
        return self.last_offset_batch, self.last_commit_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicShape:
    """What a topic is made anew from: `configs` are those set on the topic itself."""

    name: str
    id: str
    partitions: int
    replication: int
    configs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Offsets of one partition, from `begin` to before `end`."""

    topic: str
    partition: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a partition's records are proved by: how many, their bytes, and a SHA-256.

    The hash is over timestamp, key, value and headers of each record, in order.
    """

    records: int = 0
    bytes: int = 0
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the engine did on a copy: `resumes`, `refuses` or `unknown`; `rows_in` it took there."""

    outcome: str
    error_class: str | None = None
    message: str | None = None
    rows_in: int | None = None

    @property
    def why(self) -> str:
        """Why it did not resume: error class and message, as far as there are any."""
        return ": ".join(filter(None, (self.error_class, self.message)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectVersion:
    """One version of a schema registry's subject, as it was registered.

    `references` are (name, subject, version) of what the schema refers to.
    """

    version: int
    id: int
    type: str
    text: str
    references: tuple[tuple[str, str, int], ...] = ()


class World(Protocol):
    """What a plan may ask; every answer is read anew. UnreachableError where nothing answers."""

    def has_cluster(self) -> bool:
        """Return whether a Kafka cluster is configured at all."""

    def cluster_id(self) -> str:
        """Return the Kafka cluster's id."""

    def topics(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """Return those of the topics that exist, with begin and end offsets."""

    def first_at(
        self, parts: Iterable[tuple[str, int]], at: int
    ) -> Mapping[tuple[str, int], int | None]:
        """Return each partition's first offset at or after a time (Unix milliseconds).

        None where there is no such record.
        """

    def shapes(self, names: Iterable[str]) -> Mapping[str, TopicShape]:
        """Return the shapes of those of the topics that exist; RefusedError where one is hidden."""

    def topic_readers(self, names: Iterable[str]) -> Mapping[str, Mapping[str, bool]]:
        """Return by topic the groups that have members on it (True) or offsets of it (False)."""

    def subjects(self, names: Iterable[str]) -> Mapping[str, tuple[SubjectVersion, ...]]:
        """Return those subjects of the schema registry that exist, oldest version first.

        Empty where no registry is configured; UnreachableError where it does not answer.
        """

    def topics_in_transaction(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the topics on which a transaction is open: its records can't be read."""

    def topic_bytes(self, names: Iterable[str]) -> Mapping[str, int | None]:
        """Return each topic's size on disk (one replica), None where that can't be told."""

    def group(self, group_id: str) -> Group:
        """Return a group with its committed offsets; one that can't be seen is not inactive."""

    def groups(self) -> Mapping[str, Group]:
        """Return every group with its committed offsets; UnreachableError where one is hidden."""

    def topic_names(self) -> frozenset[str]:
        """Return the name of every topic that may be seen."""

    def open_transactions(self, parts: Iterable[tuple[str, int]]) -> tuple[Transaction, ...]:
        """Return the open transactions of the cluster, and those only these partitions know."""

    def pipelines(self) -> tuple[Pipeline, ...]:
        """Return every registered pipeline."""

    def checkpoint(self, location: str) -> Checkpoint | None:
        """Return the checkpoint there, or None where there is none."""

    def checkpoint_files(self, location: str, sink: str | None = None) -> CheckpointFiles | None:
        """Return the small files of a local checkpoint, also of a broken one; None without one.

        `sink` is the folder of a file sink, whose log tells which batches it has.
        """

    def query_position(self, location: str) -> QueryPosition | None:
        """Return where a query's sources are after its newest committed batch.

        None where there is no checkpoint; EvidenceError where its logs are broken.
        """

    def place(self, location: str) -> str:
        """Return a checkpoint's location with links and relative parts resolved."""

    def batches(self, location: str) -> tuple[LoggedBatch, ...]:
        """Return the batches that both logs of a checkpoint hold, oldest first."""

    def rewind(self, location: str, batch: int) -> Rewind:
        """Return what stands against going back to the end of `batch`."""

    def sink_log(self, target: str, batch: int) -> SinkLog | None:
        """Return a file sink's log seen from the end of `batch`, None where there is none."""

    def snapshot_size(self, location: str) -> SnapshotSize:
        """Return how large a snapshot of a checkpoint is, and what of it takes room."""

    def verdict(
        self, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
    ) -> Verdict:
        """Judge the version `after` (evidence) on top of what the pipeline has left by now.

        `before` is evidence of the version that runs, None: what was seen last. EvidenceError and
        CaptureError where either can't be read.
        """

    def status(self, pipeline: str) -> Status:
        """Ask the pipeline's status command; UNKNOWN where there is none."""

    def told(self, pipeline: str) -> Told:
        """Return what the driver tells by `headgate.watch` or Spark's REST interface.

        UNKNOWN where it tells nothing, or nothing that can be trusted now.
        """

    def registered(self, pipeline: str) -> Pipeline | None:
        """Return the pipeline as the registry has it now."""


class Effects(World, Protocol):
    """What steps may do, on top of what plans may ask; StepError where it does not work."""

    @property
    def run(self) -> str:
        """The run's id: names of what a step puts aside end in it."""

    def command(self, pipeline: str, word: str, message: str = "") -> None:
        """Run the registered command `word` (see `Commands`) and wait for its end.

        Where the command is a person, they are asked and waited for. `message` is for `notify`.

        What an earlier try of this run left of the same command is ended first.
        """

    def has_left(self, pipeline: str, word: str) -> bool:
        """Return whether something that this run's command started still lives."""

    def alter_offsets(self, group_id: str, offsets: Iterable[GroupOffset]) -> None:
        """Commit offsets for a group without members."""

    def remove_members(self, group_id: str) -> None:
        """Remove every member of a classic group; one that is alive joins again."""

    def delete_offsets(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        """Remove committed offsets of a group without members."""

    def create_topic(self, shape: TopicShape) -> None:
        """Make a topic of this shape (its id is Kafka's own choice); it must not exist."""

    def delete_topic(self, shape: TopicShape) -> None:
        """Delete the topic that has this id, and wait until it is gone; fine if it is.

        RefusedError where another topic has the name now.
        """

    def delete_subject(self, subject: str) -> None:
        """Delete a subject of the schema registry; fine if it is gone."""

    def register_schema(self, subject: str, version: SubjectVersion) -> int:
        """Register a schema under a subject, unless it is there; return its id."""

    def delete_group(self, group_id: str) -> None:
        """Delete a group without members, with its offsets; fine if it is gone."""

    def configure_topic(self, name: str, configs: Mapping[str, str]) -> None:
        """Give the topic these settings of its own, and no others."""

    def empty_topic(self, before: Mapping[tuple[str, int], int]) -> None:
        """Delete the records before an offset of each partition."""

    def park(self, spans: Iterable[Span], to: str) -> None:
        """Copy records to the same partitions of the topic `to`, as they are.

        Each gets a header that tells where it was. What an earlier try copied is not copied again.
        """

    def missing_of_parked(self, spans: Iterable[Span], to: str) -> tuple[str, ...]:
        """Return the partitions that hold records behind the last one that was parked."""

    def prove_parked(self, spans: Iterable[Span], to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where the copy is not exact. Digests by partition."""

    def unpark(self, parking: str, to: str) -> None:
        """Copy parked records back to an empty topic without the header.

        What an earlier try copied is not copied again.
        """

    def prove_unparked(self, parking: str, to: str) -> Mapping[int, Digest]:
        """Compare record by record; StepError where `to` holds others. Digests by partition."""

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder is there."""

    def tree_hash(self, path: str) -> str | None:
        """Return a hash over every file's name and bytes, None where the folder is not there.

        Of large files size and time stand for the bytes: nothing edits a store's data in place.
        """

    def snapshot_place(self) -> str:
        """Return the folder that is this run's own, for copies and records."""

    def copy_tree(self, path: str, to: str) -> None:
        """Copy a folder and force it to disk; what stood at `to` from an earlier try goes."""

    def move(self, path: str, to: str) -> None:
        """Rename a folder in one step, forced to disk; `to` must not exist."""

    def copy_beside(self, path: str, to: str, edits: Iterable[Edit] = ()) -> None:
        """Copy a checkpoint to a hidden neighbour of this run and make the edits in the copy.

        What stood there from an earlier try goes; the original stays byte for byte.
        """

    def remove_beside(self, path: str, copy: str) -> None:
        """Remove a copy that stands beside the checkpoint; fine if it is gone."""

    def rehearse(self, checkpoint: str, entry_point: str) -> Proof:
        """Start a query on a copy of the checkpoint for one batch whose output goes nowhere.

        RefusedError where the function can't be started at all.
        """

    def make_checkpoint(
        self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]
    ) -> None:
        """Write a checkpoint without batches and state, whose sources begin there.

        `like` is the old one, which gives owner, rights, and the files that were read. What an
        earlier try left at `draft` goes.
        """

    def made_otherwise(
        self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]
    ) -> str | None:
        """Return what of the draft, read back, is not as it was to be written; None: nothing."""

    def repartition_state(
        self, checkpoint: str, draft: str, partitions: int
    ) -> tuple[StoreRows, ...]:
        """Make `draft` a copy whose state lies in so many partitions, and one batch further.

        Its rows were compared with the old ones, one by one. RefusedError is Spark's own refusal.
        """

    def export_state(self, checkpoint: str, draft: str) -> Mapping[str, Any]:
        """Write the state at the last committed batch to `draft` as Parquet; return its manifest.

        RefusedError is Spark's own refusal.
        """

    def drop_draft(self, draft: str) -> None:
        """Remove a draft; fine if it is gone."""

    def make_like(self, path: str, like: str) -> None:
        """Make an empty folder with the owner and the rights of `like`; fine if it is there."""

    def remove_tree(self, path: str) -> None:
        """Remove a folder of `snapshot_place`; fine if it is gone."""

    def copy_to_batch(
        self, location: str, batch: int, to: str, *, query_id: str | None = None
    ) -> None:
        """Make `to` the checkpoint as it was at the end of `batch`; state is linked, not copied.

        What an earlier try left at `to` goes. `query_id` is put in place of the query's own.
        """

    def read_state(self, location: str, batch: int) -> tuple[StoreRows, ...]:
        """Have Spark's own reader load every store at the end of `batch`; nothing is changed."""

    def later_files(self, target: str, batch: int) -> list[str]:
        """Return the files that a file sink's batches after this one wrote, relative to it."""

    def copy_sink_log(self, target: str, batch: int, to: str) -> None:
        """Make `to` the file sink's log as it was at the end of `batch`."""

    def move_files(self, folder: str, to: str, names: Iterable[str]) -> None:
        """Move files to the same names below another folder, those that are not there yet."""

    def write_record(self, path: str, text: str) -> None:
        """Write a file in one step, forced to disk."""

    def note(self, message: str) -> None:
        """Tell people how the step gets on."""

    def progress(self, done: int, total: int | None, unit: str) -> None:
        """Tell how far the step is: `done` of `total` `partitions`, `records`, `bytes` or `files`.

        `total` is None where it is not known. Cheap enough to be called in a loop, and never a
        reason to fail.
        """

    def pause(self, seconds: float) -> None:
        """Wait; here a cancelled run stops (RunCancelledError) and one whose worker ends parks."""
