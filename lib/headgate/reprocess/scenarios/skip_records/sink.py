"""What a query's sink does if a batch is repeated with fewer records, and after an undo."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.errors import RefusedError
from headgate.model.sinks import BatchIds, SinkFormat
from headgate.reprocess.plan import folder_resource
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.sink_replay import (
    NO_FOLDER,
    contradictions,
    sink_of,
    sink_place,
    unknown_sink,
    without_log,
)
from headgate.text.risk import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipSink:
    """What is to be said of the sink; `target` is the folder of a file sink."""

    target: str | None = None
    risks: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


def check_sink(request: PlanRequest, done: int, part: int | None) -> SkipSink:
    """Return it for a query whose last batch is `done`, and that does `part` up to the record."""
    location, sink = sink_place(request), sink_of(request)
    if reasons := contradictions(request):
        return SkipSink(blockers=reasons)
    if sink.is_files:
        return _files(request, done, location)
    match sink.batch_ids:
        case BatchIds.UNKNOWN:
            return SkipSink(blockers=(unknown_sink(request, sink),))
        case BatchIds.DROPS | BatchIds.DROPS_OF_QUERY:
            return SkipSink(risks=(_dropped(request, sink),))
        case BatchIds.BY_FUNCTION:
            return SkipSink(risks=(_again(request, part),) if part is not None else ())
    return SkipSink(risks=(_doubled(part, location),) if part is not None else ())


UNDO_AND_QUERY_ID = Risk(
    "the {sink} stores the query's id and last batch number. After an undo, it silently drops "
    "batch numbers that it has already recorded, even after a RESTORE. To write the dropped "
    "results, rewind {pipeline} with --new-query-id after the undo"
)
UNDO_AND_BATCH = Risk(
    "the {sink} stores the number of the last batch. Before an undo, restore the table to its "
    "version before the run. Otherwise, the sink silently drops batches that it has already "
    "recorded"
)


def _dropped(request: PlanRequest, sink: SinkFormat) -> str:
    if sink.format == "delta":
        # RESTORE keeps what a query has recorded (delta-io/delta#1813).
        return UNDO_AND_QUERY_ID(sink=sink.title, pipeline=request.pipeline.name)
    return UNDO_AND_BATCH(sink=sink.title)


FILES_MOVED_BY_UNDO = Risk(
    "an undo moves files to a backup folder: all that the query has written to {folder} since "
    "the run. The query then writes these results again: consumers that have read the files "
    "get duplicates"
)


def _files(request: PlanRequest, done: int, location: str | None) -> SkipSink:
    if location is None:
        return SkipSink(blockers=(NO_FOLDER,))
    try:
        found = request.inspector.sinks.log(location, done)
    except RefusedError:
        return SkipSink(
            blockers=(
                f"the file sink {location} is on a remote file system, where Headgate can't "
                "truncate `_spark_metadata` atomically. After an undo, Spark would drop the "
                "output of batches that are in that log. Use from-point with --new-output "
                "--output-path FOLDER: that scenario starts without state",
            )
        )
    if found is None:
        return SkipSink(blockers=(without_log(location),))
    if found.later:
        return SkipSink(
            blockers=(
                f"the file sink {location} already has batch {found.later[0]}, which the "
                "checkpoint hasn't committed. So the record to skip isn't the cause of the "
                "failure. Use `headgate plan repair`",
            )
        )
    return SkipSink(
        target=found.target,
        risks=(FILES_MOVED_BY_UNDO(folder=location),),
        resources=(folder_resource(found.target),),
    )


FUNCTION_CALLED_TWICE = Risk(
    "the function of {pipeline} processes a part of batch {batch} a second time: the records "
    "before the skipped record. The function then writes duplicates of what failed attempts "
    "wrote, unless it overwrites by key. If the function skips batch numbers that it has "
    "already processed, rows are lost",
    batch="N",
)


def _again(request: PlanRequest, part: int | None) -> str:
    return FUNCTION_CALLED_TWICE(pipeline=request.pipeline.name, batch=part)


FAILED_ATTEMPTS = Risk(
    "failed attempts of batch {batch} may have written output to {output}. This output is "
    "written a second time, as on any retry by Spark",
    batch="N",
)


def _doubled(part: int | None, location: str | None) -> str:
    return FAILED_ATTEMPTS(batch=part, output=location or "the sink")


SINK_RISKS = (
    UNDO_AND_QUERY_ID,
    UNDO_AND_BATCH,
    FILES_MOVED_BY_UNDO,
    FUNCTION_CALLED_TWICE,
    FAILED_ATTEMPTS,
)
