"""Put all that evidence said of one query together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.model.topology import Topology
from headgate.model.version import (
    Engine,
    Evidence,
    Sink,
    Source,
    StatefulOperator,
    StateStore,
    Version,
)
from headgate.parse.spark.anchors import Anchor, Shape
from headgate.parse.spark.checkpoint import Checkpoint, LoggedOperator, LoggedSource
from headgate.parse.spark.forms import shapes
from headgate.parse.spark.merge import merge
from headgate.parse.spark.plan import Plan
from headgate.parse.spark.planned_stores import with_planned_schemas
from headgate.parse.spark.relation import Relation
from headgate.parse.spark.secrets import mask, mask_text
from headgate.parse.spark.session import Report, Session, SourceFacts
from headgate.parse.spark.stateful import kind_of, stateful_operators, watermarks
from headgate.parse.spark.topology import Known, draw, sink_only

_SINKS = {
    "ForeachBatchSink": "foreachBatch",
    "FileSink": "file",
    "MemorySink": "memory",
    "ConsoleSink": "console",
    "KafkaSourceProvider": "kafka",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Everything recognised as belonging to one version of a Spark query."""

    plans: tuple[Plan, ...] = ()
    checkpoint: Checkpoint | None = None
    session: Session | None = None
    reports: tuple[Report, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    name: str | None = None


def build_version(pieces: Pieces) -> Version:
    """Return the version; where pieces disagree the engine's own record wins, with a warning."""
    merged = merge(shapes(pieces.plans))
    shape = merged.shape if merged else None
    refused = pieces.session.error if pieces.session else None
    session = pieces.session if pieces.session and pieces.session.sources is not None else None
    report = _report(pieces)
    mode = _output_mode(session, merged.shape if merged else None, pieces.plans)
    sources, source_warnings = _sources(shape, session, report, pieces.checkpoint)
    planned = stateful_operators(shape, mode) if shape else None
    stateful, state_warnings = _stateful(planned, pieces.checkpoint, session)
    if stateful is not None:
        stateful = with_planned_schemas(stateful, pieces.plans)
    sink = _sink(session, report, shape, mode)
    known = Known(
        sources={s.node: s for s in sources or () if s.node},
        operators={o.node: o for o in stateful or () if o.node},
        sink=sink,
    )
    checkpoint = pieces.checkpoint or Checkpoint()
    warnings = [
        *pieces.warnings,
        *(w for p in pieces.plans for w in p.warnings),
        *(shape.resolved.query.warnings if shape else ()),
        *(merged.warnings if merged else ()),
        *checkpoint.warnings,
        *source_warnings,
        *state_warnings,
    ]
    return Version(
        engine=Engine.SPARK,
        name=pieces.name
        or (session.name if session else None)
        or (report.name if report else None),
        engine_version=session.engine_version if session else None,
        topology=draw(shape, known) if shape else _undrawn(sources, stateful, sink),
        sources=sources,
        stateful=stateful,
        sink=sink,
        watermarks=watermarks(shape) if shape else (),
        output_mode=mode,
        trigger=session.trigger if session else None,
        pinned=dict(checkpoint.pinned),
        settings=mask(pieces.settings),
        query_id=checkpoint.query_id or (report.query_id if report else None),
        offset_log_version=checkpoint.log_version,
        progress=checkpoint.progress,
        evidence=pieces.evidence,
        warnings=tuple(dict.fromkeys(warnings)),
        capture_error=refused,
    )


def _report(pieces: Pieces) -> Report | None:
    """Return the progress of the checkpoint's query, or of the only one."""
    wanted = pieces.checkpoint.query_id if pieces.checkpoint else None
    same = [r for r in pieces.reports if r.query_id == wanted]
    return next(iter(same or pieces.reports), None)


def _output_mode(session: Session | None, shape: Shape | None, plans: Sequence[Plan]) -> str | None:
    """Return the output mode; a plan made before its query starts always says Append: no one."""
    if session and session.output_mode:
        return session.output_mode
    if shape is None:
        return None
    if said := shape.resolved.query.sink.get("output_mode"):
        return said
    for anchor in shape.anchors.values():
        state = anchor.relation.state if anchor.relation else None
        if state and state.started and state.output_mode:
            return state.output_mode
    return None


def _sink(
    session: Session | None, report: Report | None, shape: Shape | None, mode: str | None
) -> Sink:
    said = shape.resolved.query.sink if shape else {}
    if not said and report and report.sink:
        name, _, target = report.sink.partition("[")
        said = {"name": name, "target": target.removesuffix("]")}
    name = said.get("name", "")
    format_ = (session.sink_format if session else None) or _SINKS.get(name, name or None)
    target = (session.sink_target if session else None) or said.get("target") or None
    return Sink(
        format=format_,
        target=mask_text(target) if target else None,
        options=dict(session.sink_options) if session else {},
        output_mode=mode,
        partition_by=session.partition_by if session else None,
        node="sink",
    )


def _sources(
    shape: Shape | None,
    session: Session | None,
    report: Report | None,
    checkpoint: Checkpoint | None,
) -> tuple[tuple[Source, ...] | None, list[str]]:
    """Return the sources in offset-log order, and where the pieces count them differently."""
    planned = _planned(shape) if shape else None
    captured = session.sources if session else None
    logged = checkpoint.sources if checkpoint else None
    reported = report.sources if report else None
    counts = {
        name: len(found)
        for name, found in (
            ("the plan", planned),
            ("the session", captured),
            ("the offset log", logged),
            ("the progress", reported),
        )
        if found is not None
    }
    if not counts:
        return None, []
    named = bool(logged) and any(s.name for s in logged or ())
    warnings = []
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        warnings.append(f"the number of sources differs: {said}")
    count = next(iter(counts.values()))
    made = []
    for position in range(count):
        fact = _at(captured, position, count)
        log = _logged(logged, position, count, fact.name if fact else None, named)
        made.append(
            _source(
                position, _at(planned, position, count), fact, log, _at(reported, position, count)
            )
        )
    return tuple(made), warnings


def _at(found: Sequence[Any] | None, position: int, count: int) -> Any:
    """Return what another piece says of a source, if it counts as many."""
    return found[position] if found is not None and len(found) == count else None


def _logged(
    logged: Sequence[LoggedSource] | None,
    position: int,
    count: int,
    name: str | None,
    named: bool,
) -> LoggedSource | None:
    if logged is None:
        return None
    if named:
        return (
            next((s for s in logged if s.name == name), None)
            if name
            else _at(logged, position, count)
        )
    return logged[position] if len(logged) == count else None


def _planned(shape: Shape) -> list[Anchor]:
    """Return the streaming leaves, each source once, in the plan's order."""
    out: dict[int, Anchor] = {}
    for anchor in _in_order(shape):
        relation = anchor.relation
        if anchor.word == "source" and relation is not None and relation.streaming:
            out.setdefault(anchor.facts.position or 0, anchor)
    return [out[n] for n in sorted(out)]


def _in_order(shape: Shape) -> list[Anchor]:
    return list(shape.anchors.values())


def _source(
    position: int,
    anchor: Anchor | None,
    fact: SourceFacts | None,
    log: LoggedSource | None,
    report: SourceFacts | None,
) -> Source:
    relation: Relation | None = anchor.relation if anchor else None
    extra = dict(relation.extra) if relation else {}
    options = mask({k[7:]: v for k, v in extra.items() if k.startswith("option.")})
    offsets = log.offsets if log else (report.offsets if report else None)
    start = log.start if log else None
    topics = (fact.topics if fact else ()) or (report.topics if report else ())
    pattern = (fact.pattern if fact else None) or (report.pattern if report else None)
    planned = _kafka_options(options)
    topics = topics or planned.topics
    pattern = pattern or planned.pattern
    is_kafka = "kafka" in (extra.get("format"), fact.format if fact else None) or bool(topics)
    if not topics and not pattern and _by_topic(offsets) and (is_kafka or not relation):
        topics, is_kafka = tuple(sorted(offsets)), True
    path = (
        (fact.path if fact else None)
        or (report.path if report else None)
        or (extra.get("path") if relation and not extra.get("read_schema") else None)
    )
    return Source(
        position=position,
        format=(fact.format if fact else None)
        or extra.get("format")
        or (report.format if report else None)
        or ("kafka" if is_kafka else None),
        name=(fact.name if fact else None) or extra.get("name") or (log.name if log else None),
        topics=tuple(topics),
        pattern=pattern,
        path=mask_text(path) if path else None,
        options=dict(fact.options) if fact and fact.options else options,
        columns=tuple(c.name for c in relation.outputs) if relation else None,
        start_offsets=start,
        offsets=offsets,
        advanced=log.advanced if log else None,
        node=anchor.id if anchor else None,
    )


def _kafka_options(options: Mapping[str, str]) -> SourceFacts:
    from headgate.parse.spark.session import kafka_topics

    lowered = {k.lower(): v for k, v in options.items()}
    return SourceFacts(topics=kafka_topics(lowered), pattern=lowered.get("subscribepattern"))


def _by_topic(offsets: Any) -> bool:
    """Whether offsets have Kafka's shape: {topic: {partition: offset}}."""
    return (
        isinstance(offsets, dict)
        and bool(offsets)
        and all(
            isinstance(v, dict) and v and all(str(p).isdigit() for p in v) for v in offsets.values()
        )
    )


def _stateful(
    planned: Mapping[str, StatefulOperator] | None,
    checkpoint: Checkpoint | None,
    session: Session | None,
) -> tuple[tuple[StatefulOperator, ...] | None, list[str]]:
    """Join planned operators with those in the checkpoint, or in the capture, by their number."""
    logged = checkpoint.operators if checkpoint else session.operators if session else None
    if logged is None:
        return (None if planned is None else tuple(planned.values())), []
    by_number = {o.operator_id: o for o in logged}
    if planned is None:
        return tuple(_recorded(o) for o in logged), []
    out, warnings = [], []
    for operator in planned.values():
        found = by_number.pop(operator.operator_id or 0, None)
        out.append(_completed(operator, found) if found else operator)
        if found and found.name and operator.name and found.name != operator.name:
            warnings.append(
                f"operator {operator.operator_id} is {operator.name} in the plan and"
                f" {found.name} in the checkpoint"
            )
    if by_number:
        numbers = ", ".join(map(str, sorted(by_number)))
        warnings.append(f"the checkpoint has state of operators that the plan lacks: {numbers}")
        out.extend(_recorded(o) for o in by_number.values())
    return tuple(sorted(out, key=lambda o: o.operator_id or 0)), warnings


def _recorded(found: LoggedOperator) -> StatefulOperator:
    return StatefulOperator(
        kind=kind_of(found.name, {s.store: s for s in found.stores}),
        name=found.name,
        operator_id=found.operator_id,
        stores=found.stores,
        extra=_properties(found),
    )


def _properties(found: LoggedOperator) -> dict[str, Any]:
    """Return what transformWithState records: its variables, time mode and output mode."""
    out: dict[str, Any] = {}
    if "timeMode" in found.properties:
        out["time_mode"] = found.properties["timeMode"]
    if "outputMode" in found.properties:
        out["operator_output_mode"] = found.properties["outputMode"]
    variables = found.properties.get("stateVariables")
    if isinstance(variables, list):
        out["variables"] = {
            str(v.get("stateName")): {
                "type": v.get("stateVariableType"),
                "ttl": bool(v.get("ttlEnabled")),
            }
            for v in variables
            if isinstance(v, dict)
        }
    return out


def _completed(operator: StatefulOperator, found: LoggedOperator) -> StatefulOperator:
    """Take the stores as the checkpoint has them; what it lacks the plan may know."""
    planned = {s.store: s for s in operator.stores}
    stores = tuple(_store(s, planned.get(s.store), operator) for s in found.stores)
    return replace(
        operator,
        name=found.name or operator.name,
        stores=stores or operator.stores,
        extra={**operator.extra, **_properties(found)},
    )


def _store(store: StateStore, planned: StateStore | None, operator: StatefulOperator) -> StateStore:
    made = replace(store, node=operator.node)
    if planned is None:
        return made
    return replace(
        made,
        format=made.format or planned.format,
        partitions=made.partitions or planned.partitions,
        key_schema=made.key_schema or planned.key_schema,
        value_schema=made.value_schema or planned.value_schema,
        proven=made.key_schema is not None,
    )


def _undrawn(
    sources: tuple[Source, ...] | None,
    stateful: tuple[StatefulOperator, ...] | None,
    sink: Sink | None,
) -> Topology:
    """Without a plan nothing says what feeds what: the sink alone is certain."""
    return sink_only(sink)
