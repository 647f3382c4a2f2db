"""What Kafka Streams did in a rehearsal: outcome, records, stores, and the unchanged originals."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from headgate.model.rehearsal import EngineOutcome, OutputDifference, Untouched


class StreamsStage(StrEnum):
    """When a start failed.

    BUILD: before a KafkaStreams client existed. START: before a task ran. BATCH: after a task ran.
    """

    BUILD = "build"
    START = "start"
    BATCH = "batch"


class StoreFate(StrEnum):
    """LOST: data exists, but the new version doesn't read it. EMPTY: there is no data."""

    KEPT = "kept"
    LOST = "lost"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRows:
    """One store by its name; keys are counted in its changelog, None if no changelog was copied.

    `sample` has some keys with their values after the batch, as text, or in hexadecimal if they
    aren't text. `folders` is the number of tasks with this store in the state directory.
    """

    store: str
    fate: StoreFate
    before: int | None = None
    after: int | None = None
    folders: int = 0
    sample: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedTopic:
    """A topic that was recreated on the rehearsal's broker, with the number of copied `records`."""

    topic: str
    partitions: int
    records: int
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterComparison:
    """The user's cluster before and after the rehearsal: `changed` names the differences.

    `before` and `after` are hashes of topics (id, partitions, earliest and latest offsets) and of
    the group (members, committed offsets).
    """

    bootstrap: str
    topics: int
    partitions: int
    offsets: int
    before: str
    after: str
    changed: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Whether both hashes are the same."""
        return self.before == self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsVerdict:
    """What Kafka Streams did with a copy of the state directory, on a separate broker.

    `error_class` is the class of the exception that ended the application. `causes` are the
    exception and its causes, outermost first, each as `class: message`. `rows_in` counts records of
    input topics, without repartition topics. `rows_out` counts records of output topics, and `rows`
    are the first of them. `question` says what would decide an UNKNOWN.
    """

    outcome: EngineOutcome
    error_class: str | None = None
    message: str | None = None
    causes: tuple[str, ...] = ()
    stage: StreamsStage | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    stores: tuple[StoreRows, ...] = ()
    copied: tuple[CopiedTopic, ...] = ()
    rows: tuple[str, ...] = ()
    streams_version: str = ""
    application_id: str = ""
    form: str = ""
    not_exercised: tuple[str, ...] = ()
    not_ensured: tuple[str, ...] = ()
    question: str | None = None
    output: OutputDifference | None = None
    directory: Untouched | None = None
    cluster: ClusterComparison | None = None
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def lost(self) -> tuple[StoreRows, ...]:
        """The stores with data that the new version doesn't read."""
        return tuple(s for s in self.stores if s.fate is StoreFate.LOST and s.before != 0)
