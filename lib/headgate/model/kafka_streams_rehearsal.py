"""What Kafka Streams did in a rehearsal: its verdict, records, stores, and what it left alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from headgate.model.rehearsal import EngineOutcome, OutputDifference, Untouched


class StreamsStage(StrEnum):
    """How far a refused start came: BUILD has no client yet, START no task that ran, BATCH did."""

    BUILD = "build"
    START = "start"
    BATCH = "batch"


class StoreFate(StrEnum):
    """LOST: its data stay behind, and nobody reads them. EMPTY: there is nothing to go on from."""

    KEPT = "kept"
    LOST = "lost"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRows:
    """One store by its name; keys are counted in its changelog, None where it has none here.

    `sample` are a few keys with their value after the batch, as text where they are text, else in
    hexadecimal digits. `folders` is how many tasks have it in the state directory.
    """

    store: str
    fate: StoreFate
    before: int | None = None
    after: int | None = None
    folders: int = 0
    sample: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedTopic:
    """A topic made anew beside the application; `records` were copied, of all or the newest."""

    topic: str
    partitions: int
    records: int
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProof:
    """The user's cluster before and after: `changed` names what differs, `hashes` are over all.

    Topics (id, partitions, begin and end) and the group (members, committed offsets) are in it.
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
    """What Kafka Streams itself did with a copy of the state directory, on a broker of its own.

    `error_class` is the class of the exception that ended it, `causes` it and what it stands on,
    outermost first, each `class: message`. Records in are of inputs, without repartition topics;
    out are of the topics that it writes. `rows` are the first of these. `question` says what would
    decide an UNKNOWN.
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
    cluster: ClusterProof | None = None
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def lost(self) -> tuple[StoreRows, ...]:
        """The stores that held something and that the new version does not read."""
        return tuple(s for s in self.stores if s.fate is StoreFate.LOST and s.before != 0)
