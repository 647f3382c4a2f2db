"""Estimate what a plan costs: bytes to reprocess, duration, and consumers that get duplicates.

An estimate never blocks a plan: if a cost is unknown, the plan says so, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from statistics import median
from typing import Any

from headgate.errors import HeadgateError
from headgate.gateway.kafka.connect import open_kafka
from headgate.gateway.kafka.record_sizes import record_sizes
from headgate.landscape.landscape import Landscape
from headgate.landscape.paths import downstream
from headgate.model.progress import BatchProgress
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.impact import Downstream, Rates, Sizes, again, in_bytes, in_time, uncounted
from headgate.reprocess.plan import Plan
from headgate.usecases.activity.group_rate import group_rates
from headgate.usecases.context import Context
from headgate.usecases.evidence.own_query import own_query
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.landscape.show_landscape import show_landscape

_BATCHES = 1_000
_ENOUGH = 3
"""Minimum number of batches with records for a rate."""
_LARGEST = 20
"""The rate is of the largest batches, one in this many: a reset causes large batches."""
_MUCH = 4
"""A batch that is this many times larger than usual had a backlog."""


def with_costs(
    context: Context, plan: Plan, *, landscape: Callable[[], Landscape] | None = None
) -> Plan:
    """Return the plan with the measured part of its impact; a plan without steps has no costs.

    `landscape` returns a landscape that already exists; without it, Kafka is read.
    """
    pipeline = context.registry.pipeline(plan.pipeline) if plan.pipeline else None
    if not plan.steps or pipeline is None:
        return plan
    impact = {
        **plan.impact,
        **_amounts(context, pipeline, plan),
        "downstream": _downstream(
            pipeline.name, landscape or (lambda: _landscape(context))
        ).as_json(),
    }
    return replace(plan, impact=impact)


def _amounts(context: Context, pipeline: Pipeline, plan: Plan) -> dict[str, Any]:
    """Return bytes and time of what is reprocessed; nothing for a plan that reprocesses nothing."""
    records: dict[str, int] = plan.impact.get("records", {})
    if plan.scenario == "bounded":
        # The run itself reads what is unread; nothing is reprocessed.
        records = plan.impact.get("to_read", {})
    read = again(plan.impact)
    if read == 0 and "to_read" not in plan.impact:
        return {}
    if read is None:
        why = f"unknown: the number of records is unknown ({uncounted(plan.impact)})"
        return {"bytes": {}, "bytes_total": None, "bytes_how": why, "seconds": None,
                "seconds_how": why}  # fmt: skip
    return {**in_bytes(records, _sizes(context, records)), **_time(context, pipeline, plan)}


def _sizes(context: Context, records: dict[str, int]) -> Sizes:
    wanted = sorted(name for name, count in records.items() if count)
    if not wanted:
        return Sizes(how="nothing is reprocessed")
    try:
        with closing(open_kafka(context.registry)) as kafka:
            average, how = record_sizes(kafka, wanted)
    except HeadgateError as error:
        return Sizes(how=f"unknown: {error}")
    return Sizes(average=average, how=how)


def _time(context: Context, pipeline: Pipeline, plan: Plan) -> dict[str, Any]:
    # A scenario that counts no more than what is read again leaves nothing else to wait for.
    waits = plan.impact.get("to_read", plan.impact["records"])
    backlog = sum(waits.values())
    if pipeline.engine is not Engine.SPARK:
        rates = group_rates(context, pipeline)
        if isinstance(rates, str):
            return in_time(backlog, None, f"unknown: {rates}")
        return in_time(backlog, rates, "")
    told = [place for place in (pipeline.watch, *pipeline.evidence) if place]
    if not told:
        why = "the pipeline has no `watch` or `evidence` that reports batches"
        return in_time(backlog, None, f"unknown: {why}")
    try:
        own = own_query(pipeline, context)
        batches = read_progress(told, context=context, query=own, most=_BATCHES)
    except HeadgateError as error:
        return in_time(backlog, None, f"unknown: {error}")
    found = rates_of(batches)
    return in_time(backlog, found, "unknown: too few batches with records were reported")


def rates_of(batches: Sequence[BatchProgress]) -> Rates | None:
    """Return the rates of the largest batches, None if too few batches had records.

    A small batch of new records shows how fast records arrive, not how fast the query can read. So
    the read rate comes from the largest batches, and the arrival rate is the median of all batches.
    The rows of all sources of a batch count, also of sources other than Kafka.
    """
    reading = sorted((b for b in batches if _rate(b, "processed_rows_per_second")), key=_rows)
    if len(reading) < _ENOUGH:
        return None
    largest = reading[-max(_ENOUGH, len(reading) // _LARGEST) :]
    arrives = [r for b in batches if (r := _rate(b, "input_rows_per_second"))]
    usual = _rows(reading[len(reading) // 2])
    return Rates(
        reads=median(_rate(b, "processed_rows_per_second") for b in largest),
        arrives=median(arrives) if arrives else 0.0,
        how=f"measured on the {len(largest)} largest of {len(reading)} batches with records",
        idle=median(map(_rows, largest)) < _MUCH * usual,
    )


def _rows(batch: BatchProgress) -> int:
    return sum(source.input_rows or 0 for source in batch.sources)


def _rate(batch: BatchProgress, name: str) -> float:
    return float(sum(getattr(source, name) or 0 for source in batch.sources))


def _landscape(context: Context) -> Landscape:
    cluster = None
    if context.registry.bootstrap_servers:
        cluster = read_cluster(context)
    return show_landscape(context, cluster)


def _downstream(pipeline: str, landscape: Callable[[], Landscape]) -> Downstream:
    try:
        shown = landscape()
    except HeadgateError:
        return Downstream(known=False)
    found = downstream(shown, f"pipeline:{pipeline}")
    mine = shown.pipeline(pipeline)
    return Downstream(
        known=bool(mine and (mine.writes or found.sinks or _has_sink(shown, pipeline))),
        pipelines=found.pipelines,
        groups=found.groups,
        topics=found.topics,
        owners=dict(found.owners),
        unowned=found.unowned,
    )


def _has_sink(landscape: Landscape, pipeline: str) -> bool:
    return any(n.pipeline == pipeline and n.kind.value == "sink" for n in landscape.nodes)
