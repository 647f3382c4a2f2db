"""What a query's sink does with repeated batch numbers, and what a plan does about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.errors import RefusedError
from headgate.model.restore_points import RestorePoint
from headgate.model.sinks import SINK_FORMATS, BatchIds, SinkFormat, is_one_location, sink_format
from headgate.reprocess.plan import folder_resource
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.common import CONSUMERS_GET_DUPLICATES
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.record_output import (
    RecordOutput,
    Written,
    spans,
    written_since,
)
from headgate.reprocess.steps.checkpoint.spark_metadata import CutSinkLog
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk

NO_FOLDER = "the folder of the file sink is unknown: pass it with --sink-path"
# `other` is whatever writes a batch again.
_OTHER = SinkFormat(format="other", batch_ids=BatchIds.WRITES)
SINKS = (*(sink.format for sink in SINK_FORMATS if sink.is_option), _OTHER.format)


@dataclass(frozen=True, slots=True)
class SinkPlan:
    """The steps that the sink needs, and what is to be said of it."""

    steps: tuple[Step, ...] = ()
    risks: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    new_query_id: bool = False


def plan_sink(
    request: PlanRequest,
    batch: int,
    last: int,
    since: int | None,
    point: RestorePoint | None = None,
) -> SinkPlan:
    """Return what the batches after `batch`, up to `last`, need when their numbers are reprocessed.

    `since` is when the first of them was planned (Unix milliseconds), None if no source says so.
    `point` is the restore point that ends at `batch`: it may have the log of a file sink.
    """
    new_id = bool(request.options.get("new-query-id"))
    sink, location = sink_of(request), sink_place(request)
    again = f"batches {batch + 1} to {last}" if last > batch + 1 else f"batch {last}"
    if reasons := contradictions(request):
        return SinkPlan(blockers=reasons)
    if sink.is_files:
        return _files(request, batch, location, point, new_id=new_id)
    match sink.batch_ids:
        case BatchIds.UNKNOWN:
            return SinkPlan(blockers=(unknown_sink(request, sink),))
        case BatchIds.DROPS:
            return SinkPlan(blockers=(_dropped(sink, location, again),))
        case BatchIds.DROPS_OF_QUERY:
            return _of_query(sink, location, again, new_id=new_id)
        case BatchIds.BY_FUNCTION:
            return _foreach(request, again, new_id=new_id)
    if sink.format == "kafka" and location and since and request.inspector.kafka.has_cluster():
        return _kafka(request, location, batch, again, since, new_id=new_id)
    return _doubled(request, location, again, new_id=new_id)


def sink_of(request: PlanRequest) -> SinkFormat:
    """Return what is known of the sink's format; its name is empty if no source says it."""
    said = request.options.get("sink")
    if said == _OTHER.format:
        return _OTHER
    known = request.version.sink.traits if request.version and request.version.sink else None
    return sink_format(said) if said else known or sink_format(None)


def contradictions(request: PlanRequest) -> tuple[str, ...]:
    """Return what the stored version says against the answers about the sink."""
    known = request.version.sink if request.version else None
    said, path = request.options.get("sink"), request.options.get("sink-path")
    if known is None:
        return ()
    now, found = sink_of(request), known.traits
    reasons: list[str] = []
    is_known = found.batch_ids is not BatchIds.UNKNOWN
    if said and is_known and (now.batch_ids, now.is_files) != (found.batch_ids, found.is_files):
        reasons.append(f"--sink {said}: the stored version has sink {found.format}. Omit --sink")
    if path and known.place and not is_one_location(path, known.place):
        reasons.append(
            f"--sink-path {path}: the stored version writes to {known.place}. Omit "
            "--sink-path, or capture the query again if the sink's location changed"
        )
    return tuple(reasons)


def sink_place(request: PlanRequest) -> str | None:
    """Return the folder, table or topic that the sink writes to; None if no source says it."""
    sink = request.version.sink if request.version else None
    return request.options.get("sink-path") or (sink.place if sink else None)


def unknown_sink(request: PlanRequest, sink: SinkFormat) -> str:
    """Return the blocker of a query whose sink may drop reprocessed batches."""
    if sink.format:
        return (
            f"Headgate doesn't know whether the sink {sink.format} of {request.pipeline.name} "
            "drops batches that it has already recorded. If the sink drops such batches by query "
            "id, pass --sink delta. If the sink writes them a second time, pass --sink other"
        )
    return (
        f"the sink of {request.pipeline.name} is unknown, and some sinks drop batch numbers that "
        "they have already recorded. Capture the query (`headgate capture EVIDENCE --pipeline "
        f"{request.pipeline.name}`), or pass --sink"
    )


def without_log(location: str) -> str:
    """Return the blocker of a folder that a file sink keeps no log in."""
    return f"{location} has no _spark_metadata, so no file sink writes there: check the folder"


FILES_MOVE = Risk(
    "Headgate moves {files} of later batches in {folder} to backup, and the query writes new "
    "files. Consumers that have read the old files get duplicates",
    files="N files",
)


def _files(
    request: PlanRequest,
    batch: int,
    location: str | None,
    point: RestorePoint | None,
    *,
    new_id: bool,
) -> SinkPlan:
    if location is None:
        return SinkPlan(blockers=(NO_FOLDER,))
    kept = None
    try:
        found = request.inspector.sinks.log(location, batch)
        is_its = (
            point is not None and point.sink_log and is_one_location(point.sink or "", location)
        )
        if point is not None and found is not None and found.problem is not None and is_its:
            kept = point.sink_log
            found = request.inspector.sinks.log(location, batch, kept)
    except RefusedError:
        return SinkPlan(
            blockers=(
                f"the file sink writes to {location} on a remote file system, where Headgate "
                "can't truncate `_spark_metadata` atomically. Without that, Spark drops the "
                "output of reprocessed batches. Use from-point with --new-output --output-path "
                "FOLDER: that scenario starts without state",
            )
        )
    if found is None:
        return SinkPlan(blockers=(without_log(location),))
    if found.problem is not None:
        return SinkPlan(blockers=(found.problem,))
    cut = CutSinkLog(
        pipeline=request.pipeline.name,
        target=found.target,
        batch=batch,
        later=len(found.later),
        files=found.files,
        kept=kept,
    )
    return SinkPlan(
        steps=(cut,) if found.later else (),
        risks=(FILES_MOVE(files=plural(found.files, "file"), folder=location),),
        resources=(folder_resource(found.target),),
        new_query_id=new_id,
    )


def _dropped(sink: SinkFormat, location: str | None, again: str) -> str:
    """Return the blocker of a table that drops numbers whichever query writes them."""
    return (
        f"the {sink.title}{f' {location}' if location else ''} has already recorded {again}, and "
        "silently drops repeated batch numbers, also of a query with a new id. Let the query write "
        "to a new table, and use from-point with --new-output --output-path FOLDER (the folder of "
        "the new table): that scenario starts without state"
    )


_AVOID = (
    "To avoid duplicates, first stop the query and remove these rows. If {output} keeps versions, "
    "restore its version before {batches}"
)
ROWS_TWICE = Risk(
    "{output} gets the rows of {batches} a second time. {avoid}",
    batches="batches FIRST to LAST",
    avoid=_AVOID.format(output="OUTPUT", batches="batches FIRST to LAST"),
)


def _of_query(sink: SinkFormat, location: str | None, again: str, *, new_id: bool) -> SinkPlan:
    output = f"the {sink.title}{f' {location}' if location else ''}"
    avoid = _AVOID.format(output=output, batches=again)
    if not new_id:
        return SinkPlan(
            blockers=(
                f"{output} has recorded the query's id and last batch number, and silently drops "
                f"{again} on reprocessing. Pass --new-query-id: the rows of {again} are then "
                f"written a second time. {avoid}",
            )
        )
    return SinkPlan(
        risks=(ROWS_TWICE(output=output, batches=again, avoid=avoid),),
        new_query_id=True,
    )


FUNCTION_CALLED_TWICE = Risk(
    "the function of {pipeline} processes the records of {batches} a second time, and the "
    "batches may be divided differently. If the function skips batch numbers that it has "
    "already processed, rows are lost. Otherwise the function writes duplicates, unless it "
    "overwrites by key",
    batches="batches FIRST to LAST",
)


def _foreach(request: PlanRequest, again: str, *, new_id: bool) -> SinkPlan:
    return SinkPlan(
        risks=(FUNCTION_CALLED_TWICE(pipeline=request.pipeline.name, batches=again),),
        new_query_id=new_id,
    )


def _kafka(
    request: PlanRequest, topic: str, batch: int, again: str, since: int, *, new_id: bool
) -> SinkPlan:
    """Say exactly what comes twice: nothing can be taken out of the end of a topic."""
    written = written_since(request.inspector, topic, since)
    step = RecordOutput(topic=topic, batch=batch, since=since, written=written)
    risks = [_written_twice(topic, again, written)]
    groups = request.inspector.kafka.topic_consumers([topic]).get(topic, {})
    readers = sorted(g for g in groups if g != request.pipeline.group)
    if readers and written:
        risks.append(CONSUMERS_GET_DUPLICATES(topic=topic, consumers=name_list(readers)))
    return SinkPlan(steps=(step,), risks=tuple(risks), new_query_id=new_id)


NONE_WRITTEN = Risk(
    "{topic} has no records from {batches}, so it gets no duplicates unless the query writes "
    "more before the stop. The run records the final offset ranges",
    batches="batches FIRST to LAST",
)
RECORDS_STAY = Risk(
    "{topic} keeps the records that {batches} wrote, and gets the reprocessed results after "
    "them. Consumers get duplicates, unless they overwrite by key or skip the old records "
    "({offsets}). Records of other producers can also be at these offsets. The run records the "
    "final offset ranges. A consumer group that hasn't read the old records can skip them with "
    "`headgate plan skip-records`",
    batches="batches FIRST to LAST",
    offsets="TOPIC[PARTITION] offsets FIRST to LAST",
)


def _written_twice(topic: str, again: str, written: Sequence[Written]) -> str:
    if not written:
        return NONE_WRITTEN(topic=topic, batches=again)
    return RECORDS_STAY(topic=topic, batches=again, offsets=spans(topic, list(written)))


WRITTEN_TWICE = Risk(
    "{pipeline} writes the results of {batches} to {output} a second time: consumers get "
    "duplicates, unless the sink overwrites by key",
    batches="batches FIRST to LAST",
)


def _doubled(request: PlanRequest, location: str | None, again: str, *, new_id: bool) -> SinkPlan:
    return SinkPlan(
        risks=(
            WRITTEN_TWICE(
                pipeline=request.pipeline.name, batches=again, output=location or "its sink"
            ),
        ),
        new_query_id=new_id,
    )


RISKS = (
    FILES_MOVE,
    ROWS_TWICE,
    FUNCTION_CALLED_TWICE,
    CONSUMERS_GET_DUPLICATES,
    NONE_WRITTEN,
    RECORDS_STAY,
    WRITTEN_TWICE,
)
