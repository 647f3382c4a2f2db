"""What evidence said of a pipeline at one time: topology, state, pinned configuration, offsets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from headgate.model.kafka_streams import StreamsApplication
from headgate.model.output_columns import Parsed, Payload
from headgate.model.sinks import SinkFormat, known_sink, sink_format
from headgate.model.state_schema import Schema
from headgate.model.topology import Topology


class Engine(StrEnum):
    """What runs a pipeline."""

    SPARK = "spark"
    KAFKA_STREAMS = "kafka-streams"
    CONSUMER_GROUP = "consumer-group"


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
    """One state store of a stateful operator; None means that the evidence does not say.

    `provider` is the short class name (`HDFSBackedStateStoreProvider`), `format` the operator's
    state format version, `encoding` is `unsaferow` or `avro`. `prefix_columns` is
    `numColsPrefixKey` of the operator metadata. `proven` is False for schemas that were derived
    from a plan, True for those the engine itself wrote or planned. `changelog` says whether
    RocksDB writes changelogs between snapshots, `checkpoint_format` is 2 where the state's
    checkpoints have ids (`stateStore.checkpointFormatVersion`).
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
    """A time window: durations as the plan writes them, in microseconds; session gap as text."""

    column: str
    size_us: int | None = None
    slide_us: int | None = None
    start_us: int | None = None
    session_gap: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulOperator:
    """A stateful operator in the order of Spark's ids: from the output up, the last one is 0.

    `name` is the engine's own word in `state/N/_metadata` (`stateStoreSave`, `dedupe`,
    `symmetricHashJoin`, ...). `keys`, `functions` and `condition` are expressions resolved
    through projections down to source columns (`s0.k` is column `k` of source 0; `op1.count(1)`
    the output of operator 1 beneath), without attribute ids and aliases: equal text means equal
    meaning. For a join `keys` holds the left keys and `right_keys` the right ones. `extra` holds
    what only some kinds have: `timeout`, `time_mode`, `variables`, `limit`, `state_format`, ...
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
    """A streaming source, in the order that the offset log uses.

    `format` is `kafka`, `file` (or `json`, `parquet`, ... where that is known), `rate`, ...;
    `topics` are exact names; `pattern` is a `subscribePattern`. `start_offsets` are the first
    ones ever logged, `offsets` the newest committed ones: for Kafka {topic: {partition: offset}},
    else the source's own JSON. `advanced` says whether the newest logged batch took data from this
    source, None where the evidence does not say. `log_places` are its places in the offset log,
    which has an entry for every time that a query reads a source; empty: one, at `position`;
    None: the evidence does not say how many. `column_types` are Spark's JSON types of `columns`,
    None where no plan tells them.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """Where a query writes: `target` is the topic, directory or table, None if unknown.

    `format` is the word of `model.sinks`, whichever of its names it was made with.
    `schema` are the columns that it gets, `made_by` says what they are made of, {column: text
    resolved like operator keys}; `payloads` are the fields within, where a column is packed.
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
        """What is known of its format."""
        return sink_format(self.format)

    @property
    def is_files(self) -> bool:
        """Whether it is Spark's file sink, which skips batch numbers that its own log has."""
        return self.traits.is_files

    @property
    def place(self) -> str | None:
        """The folder, table or topic that it writes to; None if unknown."""
        lowered = {k.lower(): v for k, v in self.options.items()}
        return self.target or lowered.get("path") or lowered.get("topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """An event-time watermark: column resolved like operator keys, delay as the plan writes it."""

    column: str
    delay: str
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A Python function that a query uses; `hash` is of its body, equal only for equal code."""

    kind: str
    name: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a query has got: batch numbers, None where there is no log.

    `offsets_batch` and `offsets_at` (when that batch was planned, ISO 8601 in UTC) say which batch
    the sources' `offsets` are of, `offsets_from` whether `checkpoint` or `progress` told them.
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
    """What a checkpoint lacks, or has, that Spark never leaves so."""

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
    """Something in a checkpoint that somebody must have changed; `what` is one sentence."""

    kind: CheckpointDamageKind
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that was read: `kind` is `explain`, `checkpoint`, `capture`, `version`, ..."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The code that a version was captured from.

    `commit` is the full id in its repository, None if there was none; `is_clean` is False where
    files differed from that commit.
    """

    entry_point: str
    commit: str | None = None
    is_clean: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Everything that evidence said at one time; None and empty mean that it did not say.

    `stateful` is None where no evidence can say whether there is state (a lone offset log), an
    empty tuple where it is known that there is none. `sources` likewise. `pinned` are the
    settings of the offset log, `settings` those of the session that captured. `captured_at` is
    ISO 8601 in UTC and no part of `fingerprint`. `capture_error` is the session's own refusal to
    build or analyse the query, None where it was built. `user_functions` are names of functions
    whose bodies no plan shows. `is_partial` is True where only a part of one plan was there, so
    that sources and operators may be missing. `streams` are the facts of a Kafka Streams
    application, None for the other engines. `checkpoint` is where a query says that it keeps its
    own, which need not be where evidence was read from; it is no part of `fingerprint`.
    `parsed` is how it reads packed columns of its sources, in the plan's order.
    `faults` are what Spark never leaves so in a checkpoint. `topic_ids` are the
    ids that the sources' topics had in Kafka when the version was stored, by name. Neither counts
    for `fingerprint`. `code` is what it was captured from, and no part of `fingerprint`.
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
