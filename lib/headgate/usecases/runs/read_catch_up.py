"""How much a pipeline has reprocessed after a run, and how long the remaining records take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from headgate.errors import HeadgateError
from headgate.gateway.adapters.live import LiveInspector
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.checkpoint.source_offsets import QueryPosition
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.offsets.partition_offsets import committed, moves_of
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets, RestoreOffsets
from headgate.reprocess.steps.process.stop_start import ManualStep, StartPipeline
from headgate.store import open_store
from headgate.store.rows import RunState
from headgate.store.step_records import step_records
from headgate.usecases.context import Context
from headgate.usecases.evidence.own_query import own_query
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.runs.read_run import RunDetail

_PART = tuple[str, int]
# Each lets a pipeline begin somewhere else; a person starts what no command does.
_MOVES = (ResetOffsets, RestoreOffsets)
_BEGINS = (*_MOVES, StartPipeline, ManualStep)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpPositions:
    """The positions of a pipeline at one time (`at`, seconds since 1970).

    `done` are the offsets read since the run moved the pipeline back, `left` those that are unread.
    `ended` is the sum of the latest offsets. `at_end` is how many of the `partitions` have no
    unread records. `batch` is the newest batch of a Spark query, `reported` what the query itself
    reports.
    """

    at: float
    done: int
    left: int
    ended: int
    partitions: int
    at_end: int
    batch: int | None = None
    reported: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Offsets per second between two reads; `seconds_left` is None if the lag doesn't decrease."""

    reads: float
    arrives: float
    seconds_left: float | None


def pace(first: CatchUpPositions, last: CatchUpPositions) -> Pace | None:
    """Return the rates between two reads, None if both are at the same time."""
    passed = last.at - first.at
    if passed <= 0:
        return None
    reads, arrives = (last.done - first.done) / passed, (last.ended - first.ended) / passed
    if not last.left:
        return Pace(reads=reads, arrives=arrives, seconds_left=0.0)
    gains = reads - arrives
    return Pace(reads=reads, arrives=arrives, seconds_left=last.left / gains if gains > 0 else None)


def can_catch_up(detail: RunDetail) -> bool:
    """Whether the run is done, and has changed the pipeline's offsets or has started it."""
    moved = any(isinstance(step, _BEGINS) for step in detail.plan.steps)
    return detail.row.state is RunState.DONE and moved and detail.plan.pipeline is not None


def read_positions(context: Context, detail: RunDetail) -> CatchUpPositions | None:
    """Return the current positions of the run's pipeline; None if nothing reports them.

    UnreachableError if Kafka doesn't respond.
    """
    pipeline = context.registry.pipeline(detail.plan.pipeline or "")
    if pipeline is None or not context.registry.bootstrap_servers or not can_catch_up(detail):
        return None
    starts = _starts(context, detail)
    with closing(LiveInspector(context.registry, context.home)) as inspector:
        positions, batch = _positions(inspector, pipeline)
        if not positions:
            return None
        found = _look(inspector, positions, starts)
    return _with_report(context, pipeline, found, batch)


def _starts(context: Context, detail: RunDetail) -> dict[_PART, int]:
    """Return where the run put each partition of a group, as its journal has it."""
    with closing(open_store(context.store_url)) as store:
        records = step_records(store.journal.entries(detail.row.id))
    return {
        (m.topic, m.partition): m.to.offset
        for position, step in enumerate(detail.plan.steps)
        if isinstance(step, _MOVES) and position in records
        for m in moves_of(records[position].was)
        if m.to is not None
    }


def _positions(
    inspector: Inspector, pipeline: Pipeline
) -> tuple[dict[_PART, int | None], int | None]:
    """Return the committed positions and the newest batch; None: nothing of it is committed yet."""
    if pipeline.checkpoint:
        # What a batch in flight is to read is logged before it is read: committed ones count.
        found = inspector.checkpoints.query_position(pipeline.checkpoint)
        if found is None:
            return {}, None
        if found.batch is None:
            begun = inspector.checkpoints.read(pipeline.checkpoint)
            return {
                (t, n): None for t, ps in (begun.offsets if begun else {}).items() for n in ps
            }, None
        return dict(_committed(found)), found.batch
    if pipeline.group is None:
        return {}, None
    return {part: c.offset for part, c in committed(inspector, pipeline.group).items()}, None


def _committed(found: QueryPosition) -> Iterator[tuple[_PART, int]]:
    """Yield each partition's position; if several sources read it, the one that is furthest back.

    That is how the landscape counts lag.
    """
    least: dict[_PART, int] = {}
    for source in found.sources:
        for topic, parts in source.offsets.items():
            for number, at in parts.items():
                least[topic, number] = min(at, least.get((topic, number), at))
    yield from least.items()


def _look(
    inspector: Inspector, positions: Mapping[_PART, int | None], starts: Mapping[_PART, int]
) -> CatchUpPositions:
    topics = inspector.kafka.topics({topic for topic, _ in positions})
    logs = {(t.name, p.number): p for t in topics.values() for p in t.partitions}
    done = left = ended = at_end = 0
    for part, committed_at in positions.items():
        log = logs.get(part)
        if log is None or log.end is None:
            continue
        begin = starts.get(part, log.begin or 0)
        at = begin if committed_at is None else committed_at
        done += max(at - begin, 0)
        left += max(log.end - at, 0)
        ended += log.end
        at_end += at >= log.end
    return CatchUpPositions(
        at=datetime.now(UTC).timestamp(),
        done=done,
        left=left,
        ended=ended,
        partitions=len(positions),
        at_end=at_end,
    )


def _with_report(
    context: Context, pipeline: Pipeline, found: CatchUpPositions, batch: int | None
) -> CatchUpPositions:
    """Add what the query says of its newest batch, where it is watched."""
    reported = None
    if pipeline.watch:
        try:
            own = own_query(pipeline, context)
            reports = read_progress([pipeline.watch], context=context, query=own, most=1)
        except HeadgateError as error:
            reported = f"the query's progress can't be read: {error}"
        else:
            # Until the query of a fresh checkpoint reports, the watch knows the one before it.
            is_own = reports and own.query_id in (None, reports[-1].query_id)
            reported = _batch_words(reports[-1].batch, reports[-1].duration_ms) if is_own else None
    return CatchUpPositions(
        **{
            name: getattr(found, name)
            for name in CatchUpPositions.__slots__
            if name not in ("batch", "reported")
        },
        batch=batch,
        reported=reported,
    )


def _batch_words(batch: int, duration_ms: int | None) -> str:
    took = f", which took {duration_ms / 1000:.1f} s" if duration_ms is not None else ""
    return f"the query reports batch {batch}{took}"
