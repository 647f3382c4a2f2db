"""Put all that evidence said of one query together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.model.progress import NewestProgress
from headgate.model.sinks import described_sink
from headgate.model.version import (
    CheckpointDamage,
    Engine,
    Evidence,
    Function,
    Sink,
    Source,
    StatefulOperator,
    Version,
)
from headgate.parse.spark.checkpoint.checkpoint import Checkpoint
from headgate.parse.spark.checkpoint.edited_files import missing_state, progress_faults, sink_fault
from headgate.parse.spark.checkpoint.spark_metadata import SinkLog, unlike_checkpoint
from headgate.parse.spark.explain.odd_names import plain
from headgate.parse.spark.explain.printed_names import has_odd_names, names_in, with_names
from headgate.parse.spark.explain.printed_plan import Plan
from headgate.parse.spark.explain.query_identity import checkpoint_of
from headgate.parse.spark.operators.canonical import Shape
from headgate.parse.spark.operators.plan_forms import shapes
from headgate.parse.spark.operators.user_functions import user_functions
from headgate.parse.spark.operators.without_garbage_collection import uncollected
from headgate.parse.spark.query.merge_forms import Merged, merge
from headgate.parse.spark.query.newest_offsets import is_later, progress_of
from headgate.parse.spark.query.output_columns import Output, sink_output
from headgate.parse.spark.query.parsed_columns import parsed_columns
from headgate.parse.spark.query.sources import join_sources
from headgate.parse.spark.query.stateful_operators import encoded, join_state
from headgate.parse.spark.query.topology import Known, draw
from headgate.parse.spark.query.topology_without_plan import Sketch, sketch
from headgate.parse.spark.session.capture_json import Session
from headgate.parse.spark.state.expected_schema import (
    column_types,
    expected_arguments,
    expected_state,
    renumbered,
    with_arguments,
)
from headgate.parse.spark.state.operators import kind_of, stateful_operators, watermarks
from headgate.text.secrets import mask, mask_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Everything recognised as belonging to one version of a Spark query."""

    plans: tuple[Plan, ...] = ()
    checkpoint: Checkpoint | None = None
    session: Session | None = None
    reports: tuple[NewestProgress, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    name: str | None = None
    engine_version: str | None = None
    query_id: str | None = None
    pinned: Mapping[str, str] = field(default_factory=dict)
    offset_log_version: int | None = None
    sink_log: SinkLog | None = None


@uncollected
def build_version(pieces: Pieces) -> Version:
    """Return the version; where pieces disagree the engine's own record wins, with a warning."""
    named = with_names(pieces.plans, names_in(pieces.plans))
    pieces = replace(pieces, plans=_without_parts(named))
    session = pieces.session or Session()
    checkpoint = pieces.checkpoint or Checkpoint()
    report = _report(pieces)
    seen = shapes(pieces.plans, _streamed(session, report))
    merged = merge(seen) or Merged(None)
    shape = merged.shape
    mode = _output_mode(session, shape)
    reported = report.sources if report else None
    is_newer = is_later(report, checkpoint)
    joined = join_sources(shape, session.sources, reported, checkpoint.sources, is_newer=is_newer)
    sources = with_types(joined.sources, pieces.plans, seen)
    planned = stateful_operators(shape, mode) if shape else {}
    arguments = expected_arguments(pieces.plans, seen)
    stores = expected_state(pieces.plans, seen)
    if shape:
        arguments = renumbered(arguments, planned, shape)
        stores = renumbered(stores, planned, shape)
    state = join_state(
        with_arguments(planned, arguments) if shape else None,
        stores,
        session.operators,
        checkpoint.operators,
    )
    operators = encoded(state.operators, pieces.settings, session.operators is not None)
    output = sink_output(pieces.plans, seen, session.output)
    sink = _with_output(_sink(session, report, shape, mode, pieces.sink_log), output)
    drawn = _drawn(shape, sources, operators, sink, session.functions, report)
    warnings = (
        *pieces.warnings,
        *_of_plans(pieces, shape),
        *merged.warnings,
        *checkpoint.warnings,
        *unlike_checkpoint(pieces.sink_log, checkpoint.progress),
        *joined.warnings,
        *state.warnings,
        *drawn.warnings,
    )
    version = Version(
        engine=Engine.SPARK,
        name=pieces.name or session.name or (report.name if report else None),
        engine_version=session.engine_version or pieces.engine_version,
        topology=drawn.topology,
        sources=drawn.sources,
        stateful=drawn.operators,
        sink=sink,
        watermarks=watermarks(shape) if shape else (),
        output_mode=mode,
        trigger=session.trigger,
        pinned=dict(checkpoint.pinned or pieces.pinned),
        settings=mask(pieces.settings),
        query_id=checkpoint.query_id or (report.query_id if report else pieces.query_id),
        offset_log_version=checkpoint.log_version or pieces.offset_log_version,
        progress=progress_of(checkpoint, report, is_newer=is_newer),
        evidence=pieces.evidence,
        warnings=tuple(dict.fromkeys(warnings)),
        capture_error=session.error,
        functions=session.functions,
        user_functions=user_functions(pieces.plans),
        is_partial=_is_partial(pieces.plans, reported, checkpoint, session),
        checkpoint=session.checkpoint or checkpoint_of(pieces.plans),
        faults=tuple(_faults(pieces, planned, report)),
        parsed=parsed_columns(pieces.plans, seen),
    )
    return plain(version) if has_odd_names(pieces.plans) else version


def _faults(
    pieces: Pieces, planned: Mapping[str, StatefulOperator], report: NewestProgress | None
) -> Iterator[CheckpointDamage]:
    """Yield what is wrong with the checkpoint by itself, and beside the other pieces."""
    checkpoint = pieces.checkpoint
    if checkpoint is None:
        return
    yield from checkpoint.faults
    progress = checkpoint.progress
    done = progress.last_commit_batch if progress else None
    yield from missing_state(done, is_planned=bool(planned), has_none=checkpoint.operators == ())
    if report is not None and report.query_id == checkpoint.query_id:
        batch = progress.offsets_batch if progress else None
        yield from progress_faults(checkpoint.sources, batch, report)
    yield from map(sink_fault, unlike_checkpoint(pieces.sink_log, progress))


def _streamed(session: Session, report: NewestProgress | None) -> list[str] | None:
    """Return the folders that the query's streams read, None where nobody says what they read."""
    sources = session.sources
    if sources is None and report is not None:
        sources = report.sources
    return None if sources is None else [s.path for s in sources if s.path]


def _without_parts(plans: Sequence[Plan]) -> tuple[Plan, ...]:
    """Leave out physical plans that are not whole where another one is."""
    whole = any(p.is_whole and p.is_physical for p in plans)
    return tuple(p for p in plans if p.is_whole or not (whole and p.is_physical))


def _is_partial(
    plans: Sequence[Plan], reported: object, checkpoint: Checkpoint, session: Session
) -> bool:
    """Whether no plan is whole, and nothing else counts sources and operators."""
    # A parsed plan is what was written, before names were looked up: it proves nothing alone.
    if not plans or any(p.is_whole and p.form != "parsed" for p in plans):
        return False
    sources = (reported, checkpoint.sources, session.sources)
    operators = (checkpoint.operators, session.operators)
    return all(s is None for s in sources) or all(o is None for o in operators)


def _drawn(
    shape: Shape | None,
    sources: tuple[Source, ...] | None,
    operators: tuple[StatefulOperator, ...] | None,
    sink: Sink,
    functions: Sequence[Function] = (),
    report: NewestProgress | None = None,
) -> Sketch:
    """Draw the plan; where there is none, what can be said of the graph without it."""
    if shape is None and operators is None and report is not None:
        # Progress has the operators' names alone: enough for a graph, too little to compare state.
        named = tuple(
            StatefulOperator(kind=kind_of(name, {}), name=name, operator_id=number)
            for number, (name, _partitions) in enumerate(report.operators)
        )
        return replace(sketch(sources, named, sink), operators=None)
    if shape is None:
        return sketch(sources, operators, sink)
    known = Known(
        sources={s.node: s for s in sources or () if s.node},
        operators={o.node: o for o in operators or () if o.node},
        sink=sink,
        functions=functions,
    )
    return Sketch(draw(shape, known), sources, operators)


def _of_plans(pieces: Pieces, shape: Shape | None) -> tuple[str, ...]:
    unknown = shape.resolved.query.warnings if shape else ()
    return (*(w for p in pieces.plans for w in _gaps(p, pieces.plans)), *unknown)


def _gaps(plan: Plan, plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return a plan's warnings, without those of what whole plans have.

    The analysed plan has all that the parsed one has. The formatted plan and the analysed plan's
    JSON have all fields.
    """
    whole = {p.form for p in plans if not p.warnings}
    if plan.form == "parsed" and whole & {"analyzed", "json"}:
        return ()
    covered = plan.form not in whole and {"formatted", "json"} <= whole
    return tuple(w for w in plan.warnings if not (covered and "plan is truncated: " in w))


def _report(pieces: Pieces) -> NewestProgress | None:
    """Return the progress of the checkpoint's query, or of the only one."""
    wanted = pieces.checkpoint.query_id if pieces.checkpoint else None
    same = [r for r in pieces.reports if r.query_id == wanted]
    return next(iter(same or pieces.reports), None)


def _output_mode(session: Session, shape: Shape | None) -> str | None:
    """Return the output mode; a plan made before its query starts always says Append: not this."""
    if session.output_mode or shape is None:
        return session.output_mode
    if said := shape.sink.get("output_mode"):
        return said
    for anchor in shape.anchors.values():
        state = anchor.relation.state if anchor.relation else None
        if state and state.started and state.output_mode:
            return state.output_mode
    return None


def _sink(
    session: Session,
    report: NewestProgress | None,
    shape: Shape | None,
    mode: str | None,
    log: SinkLog | None,
) -> Sink:
    """Return the sink; its own log, which only a file sink has, fills what nothing else says."""
    log = log or SinkLog()
    form, target = _described(report, shape)
    target = session.sink_target or target or log.target
    return Sink(
        format=session.sink_format or form or log.format,
        target=mask_text(target) if target else None,
        options=dict(session.sink_options),
        output_mode=mode,
        partition_by=log.partition_by if session.partition_by is None else session.partition_by,
        node="sink",
    )


def _with_output(sink: Sink, output: Output) -> Sink:
    made = dict(output.made_by)
    return replace(sink, schema=output.schema, made_by=made, payloads=output.payloads)


def _described(report: NewestProgress | None, shape: Shape | None) -> tuple[str | None, str | None]:
    """Return format and target of the sink, as far as a plan or the progress prints them."""
    said = shape.sink if shape else {}
    if said.get("sink"):
        return described_sink(said["sink"])
    if report and report.sink:
        return described_sink(report.sink)
    # A table, by its name only: the evidence does not say what it is stored as.
    return None, said.get("table")


def with_types(
    sources: Sequence[Source] | None, plans: Sequence[Plan], shapes: Sequence[Shape]
) -> tuple[Source, ...] | None:
    """Return the sources with a type for each column, None if no form shows it.

    Forms agree on the ids of the leaves, and a column is known by its name there.
    """
    if sources is None:
        return None
    pairs = list(zip(plans, shapes, strict=True))
    types_by_leaf: dict[str, dict[str, Any]] = {}
    for _, shape in pairs:
        types = column_types(shape, pairs)
        for anchor in shape.anchors.values():
            outputs = anchor.relation.outputs if anchor.word == "source" and anchor.relation else ()
            for column in outputs:
                if column.id in types:
                    types_by_leaf.setdefault(anchor.id, {})[column.name] = types[column.id].type
    return tuple(_typed(s, types_by_leaf.get(s.node or "", {})) for s in sources)


def _typed(source: Source, types: dict[str, Any]) -> Source:
    if not types or source.columns is None:
        return source
    return replace(source, column_types=tuple(types.get(name) for name in source.columns))
