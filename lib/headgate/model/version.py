"""What evidence reported about a pipeline at one time: topology, state, settings, offsets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from headgate.model.kafka_streams import StreamsApplication
from headgate.model.output_columns import Parsed, Payload
from headgate.model.sinks import SinkFormat, known_sink, sink_format
from headgate.model.state_schema import Schema
from headgate.model.topology import Topology


class Engine(StrEnum):
    """What runs a pipeline; its value is its name in `headgate.toml` and in the store.

    `words` is its name in sentences, `full_name` in headings and where it stands for all of its
    kind.
    """

    words: str
    full_name: str

    def __new__(cls, name: str, words: str = "", full_name: str = "") -> Self:
        """Make a row; `Engine(name)` of an engine that there is returns its row."""
        row = str.__new__(cls, name)
        row._value_, row.words, row.full_name = name, words, full_name
        return row

    SPARK = "spark", "Spark", "Spark Structured Streaming"
    KAFKA_STREAMS = "kafka-streams", "Kafka Streams", "Kafka Streams"
    CONSUMER_GROUP = "consumer-group", "a consumer group", "consumer groups"


class OperatorKind(StrEnum):
    """Kinds of stateful operators of Spark Structured Streaming."""

    AGGREGATE = "aggregate"
    SESSION_AGGREGATE = "session_aggregate"
    DEDUPLICATE = "deduplicate"
    DEDUPLICATE_WITHIN_WATERMARK = "deduplicate_within_watermark"
    STREAM_JOIN = "stream_join"
    LIMIT = "limit"
    MAP_GROUPS = "map_groups"
    TRANSFORM_WITH_STATE = "transform_with_state"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateStore:
    """One state store of a stateful operator; None means that the evidence doesn't show the fact.

    `provider` is the short class name (`HDFSBackedStateStoreProvider`), `format` the operator's
    state format version, `encoding` `unsaferow` or `avro`. `prefix_columns` is `numColsPrefixKey`
    of the operator metadata. `proven` is True for schemas that the engine wrote or planned, False
    for schemas that were derived from a plan. `changelog`: RocksDB writes changelogs between
    snapshots. `checkpoint_format` is 2 if the state's checkpoints have ids
    (`stateStore.checkpointFormatVersion`).
    """

    store: str
    operator_id: int | None = None
    key_schema: Schema | None = None
    value_schema: Schema | None = None
    partitions: int | None = None
    prefix_columns: int | None = None
    provider: str | None = None
    format: str | None = None
    encoding: str | None = None
    node: str | None = None
    proven: bool = False
    changelog: bool | None = None
    checkpoint_format: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A time window: durations of the plan in microseconds, the session gap as text."""

    column: str
    size_us: int | None = None
    slide_us: int | None = None
    start_us: int | None = None
    session_gap: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulOperator:
    """A stateful operator, in the order of Spark's ids: the operator next to the output is 0.

    `name` is Spark's name in `state/N/_metadata` (`stateStoreSave`, `dedupe`, `symmetricHashJoin`,
    ...). `keys`, `functions` and `condition` are expressions, resolved through projections to
    source columns, without attribute ids and aliases: equal text means equal meaning. `s0.k` is
    column `k` of source 0, `op1.count(1)` is the output of operator 1. For a join, `keys` are the
    left keys, and `right_keys` the right keys. `extra` has facts of only some kinds: `timeout`,
    `time_mode`, `variables`, `limit`, `state_format`, ...
    """

    kind: OperatorKind
    name: str | None = None
    operator_id: int | None = None
    node: str | None = None
    keys: tuple[str, ...] | None = None
    right_keys: tuple[str, ...] | None = None
    functions: tuple[str, ...] | None = None
    join_type: str | None = None
    condition: str | None = None
    window: Window | None = None
    watermark_column: str | None = None
    watermark_delay: str | None = None
    output_mode: str | None = None
    stores: tuple[StateStore, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A streaming source; sources are in the order of the offset log.

    `format` is `kafka`, `file` (or `json`, `parquet`, ... if known), `rate`, ... `topics` are exact
    names; `pattern` is a `subscribePattern`. `start_offsets` are the first offsets in the log,
    `offsets` the newest committed ones: for Kafka {topic: {partition: offset}}, otherwise the
    source's own JSON. `advanced`: the newest logged batch read data of this source; None if the
    evidence doesn't show it. `log_places` are the source's positions in the offset log, which has
    one entry for each time that a query reads the source. Empty: one entry, at `position`. None:
    their number is unknown. `column_types` are Spark's JSON types of `columns`, None if no plan has
    them.
    """

    position: int
    format: str | None = None
    name: str | None = None
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    path: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    column_types: tuple[Any, ...] | None = None
    start_offsets: Any = None
    offsets: Any = None
    advanced: bool | None = None
    log_places: tuple[int, ...] | None = ()
    node: str | None = None

    @property
    def plain_options(self) -> dict[str, str]:
        """The options with keys in lower case: Spark ignores their case."""
        return {key.lower(): value for key, value in self.options.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """The sink of a query: `target` is the topic, folder or table, None if unknown.

    `format` is the name in `model.sinks`, whichever of its names was passed. `schema` has the
    columns that the sink gets. `made_by` has the expression of each column, {column: text, resolved
    as keys of operators}. `payloads` are the fields inside a column that contains a serialised
    record.
    """

    format: str | None = None
    target: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    output_mode: str | None = None
    partition_by: tuple[str, ...] | None = None
    schema: Schema | None = None
    node: str | None = None
    made_by: dict[str, str] = field(default_factory=dict)
    payloads: tuple[Payload, ...] = ()

    def __post_init__(self) -> None:
        """Give a known format its one word."""
        if row := known_sink(self.format):
            object.__setattr__(self, "format", row.format)

    @property
    def traits(self) -> SinkFormat:
        """The known traits of the sink's format."""
        return sink_format(self.format)

    @property
    def is_files(self) -> bool:
        """Whether it is Spark's file sink, which skips batch numbers that its log already has."""
        return self.traits.is_files

    @property
    def place(self) -> str | None:
        """The folder, table or topic that the query writes to; None if unknown."""
        lowered = {k.lower(): v for k, v in self.options.items()}
        return self.target or lowered.get("path") or lowered.get("topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """An event-time watermark: column resolved as keys of operators, delay as in the plan."""

    column: str
    delay: str
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A Python function that a query uses; `hash` is a hash of its body."""

    kind: str
    name: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The batch numbers that a query has reached, None without a log.

    `offsets_batch` is the batch of the sources' `offsets`, and `offsets_at` is when Spark planned
    this batch (ISO 8601 in UTC). `offsets_from` is their source: `checkpoint` or `progress`.
    """

    last_offset_batch: int | None = None
    last_commit_batch: int | None = None
    watermark_ms: int | None = None
    first_retained_batch: int | None = None
    last_batch_empty: bool | None = None
    offsets_batch: int | None = None
    offsets_at: str | None = None
    offsets_from: str | None = None
    commit_log_version: int | None = None


class CheckpointDamageKind(StrEnum):
    """What is missing in a checkpoint, or is in it, although Spark never leaves it like this."""

    NO_METADATA = "no_metadata"
    NO_OFFSETS = "no_offsets"
    COMMIT_WITHOUT_OFFSETS = "commit_without_offsets"
    NO_PREDECESSOR = "no_predecessor"
    NO_SOURCE_LOG = "no_source_log"
    NO_STATE = "no_state"
    STATE_VERSION_GONE = "state_version_gone"
    STATE_PARTITIONS = "state_partitions"
    UNREADABLE = "unreadable"
    OFFSETS_WENT_BACK = "offsets_went_back"
    UNLIKE_PROGRESS = "unlike_progress"
    SINK_AHEAD = "sink_ahead"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDamage:
    """A state of a checkpoint that Spark never causes; `what` is one sentence."""

    kind: CheckpointDamageKind
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One piece of evidence: `kind` is `explain`, `checkpoint`, `capture`, `version`, ..."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The code that a version was captured from.

    `entry_point` is empty if files were captured instead of a function. `commit` is the full id in
    the repository, None without a repository. `is_clean` is False if files differed from this
    commit.
    """

    entry_point: str = ""
    commit: str | None = None
    is_clean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Everything that evidence reported at one time; None and empty mean that it didn't report it.

    `stateful` is None if no evidence can show whether there is state (for example only an offset
    log), and an empty tuple if there is known to be none; the same applies to `sources`. `pinned`
    are the settings of the offset log, `settings` those of the captured session. `captured_at` is
    ISO 8601 in UTC. `capture_error` is the error with which the session failed to build or analyse
    the query, None if it succeeded. `user_functions` are names of functions whose bodies no plan
    shows. `is_partial`: only a part of one plan was read, so sources and operators may be missing.
    `streams` has the facts of a Kafka Streams application, None for other engines. `checkpoint` is
    the location that the query reports, which may differ from the location that was read. `parsed`
    describes how the query parses columns of its sources, in the plan's order. `faults` are defects
    of the checkpoint that Spark never causes. `topic_ids` are the ids of the sources' topics, by
    name, when the version was stored. `code` is the code that the version was captured from.

    `captured_at`, `checkpoint`, `faults`, `topic_ids` and `code` aren't part of `fingerprint`.
    """

    engine: Engine
    name: str | None = None
    engine_version: str | None = None
    topology: Topology = Topology()
    sources: tuple[Source, ...] | None = None
    stateful: tuple[StatefulOperator, ...] | None = None
    sink: Sink | None = None
    watermarks: tuple[Watermark, ...] = ()
    output_mode: str | None = None
    trigger: dict[str, Any] | None = None
    pinned: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    query_id: str | None = None
    offset_log_version: int | None = None
    progress: Progress | None = None
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    captured_at: str | None = None
    capture_error: str | None = None
    functions: tuple[Function, ...] = ()
    user_functions: tuple[str, ...] = ()
    streams: StreamsApplication | None = None
    is_partial: bool = False
    checkpoint: str | None = None
    faults: tuple[CheckpointDamage, ...] = ()
    topic_ids: dict[str, str] = field(default_factory=dict)
    parsed: tuple[Parsed, ...] = ()
    code: Code | None = None
