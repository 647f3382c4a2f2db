"""The table of evidence kinds, one row for each kind. All layers use it."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from headgate.model.version import Engine

_SPARK, _STREAMS = Engine.SPARK, Engine.KAFKA_STREAMS


class EvidenceKind(StrEnum):
    """One kind of evidence; its value is its name in `Evidence.kind`.

    `engine` None means any engine. `words` is its name in messages. `in_content`: `recognise`
    recognises the kind by the content of one file. `is_log`: it is read like an event log.
    `has_history`: it is a log that also reports earlier runs of the query. `has_operators`,
    `has_state`, `has_offsets`, `has_types` and `has_names` (of sources): it can report these.
    """

    engine: Engine | None
    words: str
    in_content: bool
    is_log: bool
    has_history: bool
    has_operators: bool
    has_state: bool
    has_offsets: bool
    has_types: bool
    has_names: bool

    def __new__(
        cls,
        name: str,
        engine: Engine | None,
        words: str,
        traits: str = "",
    ) -> Self:
        """Make a row; `traits` are names of the fields that are true, apart by spaces."""
        row = str.__new__(cls, name)
        row._value_ = name
        row.engine, row.words = engine, words
        told = traits.split()
        row.in_content, row.is_log = "in_content" in told, "is_log" in told
        row.has_history, row.has_operators = "has_history" in told, "has_operators" in told
        row.has_state, row.has_offsets = "has_state" in told, "has_offsets" in told
        row.has_types, row.has_names = "has_types" in told, "has_names" in told
        return row

    EXPLAIN = (
        *("explain", _SPARK, "explain text"),
        "in_content has_operators",
    )
    PLAN_JSON = (
        *("plan-json", _SPARK, "query plan as JSON"),
        "in_content has_operators has_state has_types",
    )
    PROGRESS = (
        *("progress", _SPARK, "query progress"),
        "in_content has_offsets",
    )
    EVENT_LOG = (
        *("event-log", _SPARK, "event log"),
        "in_content is_log has_history has_operators has_state has_offsets",
    )
    WATCH = (
        *("watch", _SPARK, "output of headgate.watch"),
        "in_content is_log has_history has_operators has_state has_offsets",
    )
    REST = (
        *("rest", _SPARK, "REST API of a running Spark UI"),
        "is_log has_operators",
    )
    CAPTURE = (
        *("capture", _SPARK, "capture of a Spark session"),
        "in_content has_operators has_state has_types has_names",
    )
    SETTINGS = "settings", _SPARK, "session settings", "in_content"
    SINK_LOG = "sink-log", _SPARK, "log of a file sink (_spark_metadata)"
    CHECKPOINT = (
        *("checkpoint", _SPARK, "checkpoint"),
        "has_state has_offsets has_names",
    )
    VERSION = (
        *("version", None, "version file"),
        "in_content has_operators has_state has_offsets has_types has_names",
    )
    DESCRIBE = (
        *("describe", _STREAMS, "Topology#describe() text"),
        "in_content has_operators",
    )
    STREAMS_CONFIG = (
        *("streams-config", _STREAMS, "configuration of a Kafka Streams application"),
        "in_content",
    )
    INTERNAL_TOPICS = (
        *("internal-topics", _STREAMS, "internal topics of a Kafka Streams application"),
        "in_content",
    )
    INPUT_TOPICS = "input-topics", _STREAMS, "input topics and their partitions", "in_content"
    CLUSTER = "cluster", None, "Kafka cluster"


TRIED = tuple(kind.words for kind in EvidenceKind if kind.in_content)
"""Kinds of evidence that Headgate recognizes by the content of a file."""
LOGS = frozenset(kind for kind in EvidenceKind if kind.is_log)
HISTORIES = frozenset(kind for kind in EvidenceKind if kind.has_history)
OF_KAFKA_STREAMS = frozenset(kind for kind in EvidenceKind if kind.engine is _STREAMS)
HAVE_OPERATORS = frozenset(kind for kind in EvidenceKind if kind.has_operators)
HAVE_STATE = frozenset(kind for kind in EvidenceKind if kind.has_state)
HAVE_OFFSETS = frozenset(kind for kind in EvidenceKind if kind.has_offsets)
HAVE_TYPES = frozenset(kind for kind in EvidenceKind if kind.has_types)
HAVE_NAMES = frozenset(kind for kind in EvidenceKind if kind.has_names)
