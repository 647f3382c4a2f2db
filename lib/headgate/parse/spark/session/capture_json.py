"""What a session knows of a query: `capture.json`, its settings, and the query's progress."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headgate.model.progress import NewestProgress, SourceFacts
from headgate.model.state_schema import Field, Schema
from headgate.model.version import Function
from headgate.parse.spark.checkpoint.checkpoint import LoggedOperator
from headgate.parse.spark.session.captured_state import captured_operators
from headgate.parse.spark.session.json_values import items, mapping, offset_value
from headgate.text.json_text import optional_text, read_json, whole
from headgate.text.secrets import mask, mask_json, mask_options

_SUBSCRIBED = re.compile(r"KafkaV\d\[(?P<how>Subscribe|SubscribePattern|Assign)\[(?P<what>.*)\]\]$")
_FILES = re.compile(r"FileStreamSource\[(?P<path>.*)\]$")
# What a writer is told of the query stands among the sink's options, and is none.
_OF_QUERY = ("queryname", "checkpointlocation")
_PARTITIONED = re.compile(r"^Some\(\w+\((?P<columns>.*)\)\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One `capture.json`; `error` is the session's own refusal, `operators` the planned state.

    With an `error` the rest is mostly unknown: `sources` is None where the query was never built.
    `output` are the columns that the sink gets.
    """

    sources: tuple[SourceFacts, ...] | None = None
    sink_format: str | None = None
    sink_target: str | None = None
    sink_options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] | None = None
    output_mode: str | None = None
    trigger: dict[str, Any] | None = None
    name: str | None = None
    error: str | None = None
    operators: tuple[LoggedOperator, ...] | None = None
    engine_version: str | None = None
    functions: tuple[Function, ...] = ()
    checkpoint: str | None = None
    output: Schema | None = None


def read_session(found: Mapping[str, Any]) -> Session:
    """Return what a `capture.json` says; ValueError where a part has another shape.

    Secrets are masked, those in options with the options' own grammar.
    """
    found = mask_json(found)
    if "error" in found and "sources" not in found:
        return Session(error=str(found["error"]))
    sink = mapping(found.get("sink"))
    options = _options(sink.get("options"))
    lowered = {k.lower(): v for k, v in options.items()}
    return Session(
        sources=_sources(found.get("sources")),
        sink_format=optional_text(sink.get("format")),
        sink_target=optional_text(sink.get("target"))
        or optional_text(sink.get("table"))
        or lowered.get("topic")
        or lowered.get("path")
        or lowered.get("table"),
        sink_options={k: v for k, v in options.items() if k.lower() not in _OF_QUERY},
        partition_by=_partition_by(sink),
        output_mode=optional_text(found.get("output_mode")),
        trigger=found["trigger"] if isinstance(found.get("trigger"), dict) else None,
        name=lowered.get("queryname") or optional_text(found.get("name")),
        error=optional_text(found.get("error")),
        operators=captured_operators(found.get("state")),
        engine_version=optional_text(found.get("spark_version")),
        functions=_functions(found.get("functions")),
        checkpoint=optional_text(found.get("checkpoint")) or lowered.get("checkpointlocation"),
        output=_output(found.get("output")),
    )


def _output(found: Any) -> Schema | None:
    """Return the schema in Spark's JSON; a field without name and type is not one."""
    fields = [mapping(f) for f in items(mapping(found).get("fields"))]
    if not fields or not all("name" in f and "type" in f for f in fields):
        return None
    return Schema(
        tuple(Field(str(f["name"]), f["type"], bool(f.get("nullable", True))) for f in fields)
    )


def _sources(found: Any) -> tuple[SourceFacts, ...] | None:
    return None if found is None else tuple(_source(mapping(s)) for s in items(found))


def _functions(found: Any) -> tuple[Function, ...]:
    """Return the functions of which all is said; one without a hash can't be compared."""
    parts = [mapping(f) for f in items(found)]
    return tuple(
        Function(kind=str(f.get("kind")), name=str(f.get("name")), hash=str(f["hash"]))
        for f in parts
        if "hash" in f
    )


def _options(found: Any) -> dict[str, str]:
    return mask({str(k): str(v) for k, v in mapping(found).items()})


def _partition_by(sink: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the partition columns: a list, or from Scala's `Some(List(a, b))`.

    Null means no columns. Without the key they are unknown: None.
    """
    found = sink.get("partition_by")
    if found is None:
        return () if "partition_by" in sink and sink.get("format") is not None else None
    if isinstance(found, list):
        return tuple(map(str, found))
    if isinstance(found, str) and (match := _PARTITIONED.match(found)):
        return tuple(c.strip() for c in match["columns"].split(","))
    return None


def _source(found: Mapping[str, Any]) -> SourceFacts:
    options = _options(found.get("options"))
    lowered = {k.lower(): v for k, v in options.items()}
    return SourceFacts(
        format=optional_text(found.get("format")),
        name=optional_text(found.get("name")),
        options=options,
        topics=kafka_topics(lowered),
        pattern=lowered.get("subscribepattern"),
        path=lowered.get("path"),
    )


def kafka_topics(lowered: Mapping[str, str]) -> tuple[str, ...]:
    """Return the exact topic names in a Kafka source's options (keys in lower case)."""
    if text := lowered.get("subscribe"):
        return tuple(sorted(t.strip() for t in text.split(",") if t.strip()))
    if text := lowered.get("assign"):
        try:
            found = read_json(text)
        except ValueError:
            return ()
        return tuple(sorted(found)) if isinstance(found, dict) else ()
    return ()


def is_progress(found: Any) -> bool:
    """Whether a JSON value is one progress report of a streaming query."""
    return isinstance(found, dict) and {"id", "runId", "batchId", "sources"} <= found.keys()


def read_reports(found: Sequence[Mapping[str, Any]]) -> tuple[NewestProgress, ...]:
    """Return the newest report of each query, in the order in which the queries appear."""
    newest: dict[str, Mapping[str, Any]] = {}
    for report in found:
        key = str(report["id"])
        if key not in newest or _batch(report) >= _batch(newest[key]):
            newest[key] = report
    return tuple(_report(r) for r in newest.values())


def _batch(report: Mapping[str, Any]) -> int:
    found = report.get("batchId")
    return found if isinstance(found, int) else -1


def _report(found: Mapping[str, Any]) -> NewestProgress:
    operators = (mapping(o) for o in items(found.get("stateOperators")))
    sink = optional_text(mapping(found.get("sink")).get("description"))
    return NewestProgress(
        query_id=str(found["id"]),
        batch=whole(found.get("batchId")),
        at=optional_text(found.get("timestamp")),
        name=optional_text(found.get("name")),
        sources=tuple(reported_source(mapping(s)) for s in items(found.get("sources"))),
        operators=tuple(
            (str(o.get("operatorName")), whole(o.get("numShufflePartitions"))) for o in operators
        ),
        sink=mask_options(sink) if sink else None,
    )


def _topics(how: str, what: str, offsets: Any) -> tuple[str, ...]:
    """Return the exact topics: those subscribed to; those assigned are those with offsets."""
    if how == "Subscribe":
        return tuple(sorted(t.strip() for t in what.split(",") if t.strip()))
    return tuple(sorted(offsets)) if how == "Assign" and isinstance(offsets, dict) else ()


def reported_source(found: Mapping[str, Any]) -> SourceFacts:
    """Return what one source of a progress report says; `offsets` are those at the batch's end."""
    described = mask_options(str(found.get("description", "")))
    if match := _SUBSCRIBED.search(described):
        what = match["what"]
        topics = _topics(match["how"], what, offset_value(found.get("endOffset")))
        pattern = what if match["how"] == "SubscribePattern" else None
        return SourceFacts(
            format="kafka",
            topics=topics,
            pattern=pattern,
            offsets=offset_value(found.get("endOffset")),
        )
    if match := _FILES.search(described):
        return SourceFacts(
            format="file", path=match["path"], offsets=offset_value(found.get("endOffset"))
        )
    kind = "rate" if described.startswith("RateStream") else None
    return SourceFacts(format=kind, offsets=offset_value(found.get("endOffset")))
