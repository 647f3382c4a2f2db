"""Bounded run of a Spark query by Headgate's program, with the real checkpoint and sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from headgate.errors import RefusedError
from headgate.model.cluster import Topic
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind
from headgate.reprocess.conditions import no_entry_point
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.bounded import options
from headgate.reprocess.scenarios.bounded.options import (
    deleted_unread,
    end_risks,
    start_after,
    time_risks,
    unread_records,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.processed_records import (
    FIRST_RECORD_EXPIRES,
    retention_risks,
)
from headgate.reprocess.scenarios.shared.processing_mode import (
    LEAST_SECONDS,
    LOAD_RISKS,
    least_seconds,
    load_risks,
)
from headgate.reprocess.steps.checkpoint.run_bounded import RunBounded
from headgate.reprocess.steps.upgrade.deploy_version import BackUpCheckpoint
from headgate.text.numbers import name_list
from headgate.text.risk import Risk


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop, keep the checkpoint, run to the bound, start again if asked."""
    pipeline, inspector = request.pipeline, request.inspector
    if pipeline.entry_point is None:
        return request.block(no_entry_point(pipeline))
    found = inspector.checkpoints.read(pipeline.checkpoint) if pipeline.checkpoint else None
    position = (
        inspector.checkpoints.query_position(pipeline.checkpoint) if pipeline.checkpoint else None
    )
    if found is None or position is None:
        return request.block(common.no_checkpoint(pipeline))
    if found.remote:
        raise RefusedError(
            f"checkpoint {found.location} is remote, but Headgate can restore only a local "
            "checkpoint. Run the query with Trigger.AvailableNow instead"
        )
    stop = common.stop_step(pipeline, checkpoint=found.location)
    what: dict[str, Any] = {
        "pipeline": pipeline.name,
        "checkpoint": found.location,
        "query_id": found.query_id,
    }
    run = RunBounded(
        **what,
        entry_point=pipeline.entry_point,
        query=pipeline.query,
        max_records=common.at_least(request.options, "max-records", 1, None),
        rate=common.at_least(request.options, "rate", 1, None),
        time_limit=common.at_least(request.options, "time-limit", 1, None),
    )
    topics = _topics(request, position)
    unread = None if topics is None else unread_records(topics, positions_of(position))
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=(stop, BackUpCheckpoint(**what), run, *start_after(request, stop)),
        preconditions={
            **common.input_facts(inspector, {topic for topic, _ in positions_of(position)}),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "commands": common.command_facts(pipeline),
            "master": inspector.spark_jobs.master(),
        },
        impact={
            "records": dict.fromkeys(unread or {}, 0),
            "total": 0,
            "uncounted": [],
            **({"to_read": unread} if unread is not None else {}),
            "snapshot": asdict(inspector.checkpoints.snapshot_size(found.location)),
        },
        risks=(
            *_risks(request, unread),
            *_input_risks(request, topics or {}, position),
        ),
        blockers=tuple(_blockers(request, found, position)),
        options=dict(request.options),
        resources=(f"checkpoint:{found.location}",),
    )


def _topics(request: PlanRequest, position: QueryPosition) -> Mapping[str, Topic] | None:
    """Return the topics that the query reads, None without a cluster to ask."""
    kafka, at = request.inspector.kafka, positions_of(position)
    return kafka.topics({topic for topic, _ in at}) if at and kafka.has_cluster() else None


def positions_of(position: QueryPosition) -> dict[tuple[str, int], int]:
    """Return by topic and partition where a query is."""
    return {
        (topic, number): offset
        for source in position.sources
        for topic, parts in source.offsets.items()
        for number, offset in parts.items()
    }


def _blockers(request: PlanRequest, found: Checkpoint, position: QueryPosition) -> Iterator[str]:
    yield from common.must_be_stopped(request.pipeline, request.inspector)
    if found.fixed:
        yield f"Headgate can't restore checkpoint {found.location}: {found.fixed}"
    others = [f"source {s.name}" for s in position.sources if s.kind is not SourceKind.KAFKA]
    if others:
        yield (
            f"the query has sources that aren't Kafka: {name_list(others)}. Headgate can't set "
            "where a run ends in these sources: run the query with Trigger.AvailableNow instead"
        )


WRITES_TO_SINK = Risk(
    "{entry_point} runs with the worker's credentials, and writes to the query's sink. An "
    "undo can't delete this output",
    entry_point="MODULE:FUNCTION",
)
UP_TO_LATEST = Risk(
    "the run processes records up to the latest offsets at the start of the query. Records "
    "that arrive later aren't processed"
)
RATE_ON_AVERAGE = Risk(
    "on average, the run reads at most {rate} records/s: a batch has at most 10 seconds' "
    "worth of records. Within a batch, Spark reads as fast as it can",
    rate="N",
)
LATE_DROPPED = Risk(
    "Spark drops records older than the watermark, as in normal operation. With smaller "
    "batches (--max-records, --rate), the watermark advances more often, so Spark may drop "
    "more records"
)
SPARK_MASTER = Risk(
    "the run uses the Spark master {master}. Its executors must be able to import the query's code"
)


def _risks(request: PlanRequest, unread: dict[str, int] | None) -> Iterator[str]:
    pipeline = request.pipeline
    yield WRITES_TO_SINK(entry_point=pipeline.entry_point)
    yield UP_TO_LATEST()
    if (rate := common.at_least(request.options, "rate", 1, None)) is not None:
        yield RATE_ON_AVERAGE(rate=rate)
        yield from least_seconds(request, sum((unread or {}).values()))
    elif request.options.get("max-records") is None:
        total = None if unread is None else sum(unread.values())
        more = ", or pass --max-records"
        yield from common.first_batch_risks(request.version, total, more)
    if request.version is not None and request.version.watermarks:
        yield LATE_DROPPED()
    if not request.inspector.spark_jobs.master().startswith("local"):
        yield SPARK_MASTER(master=request.inspector.spark_jobs.master())
    yield from end_risks(request)
    yield from time_risks(request)


DELETED_INPUT = Risk(
    "{lost}. If failOnDataLoss is true (the default), the query fails. Otherwise, these "
    "records are lost",
    lost="Kafka has deleted up to N records of TOPIC that weren't processed",
)


def _input_risks(
    request: PlanRequest, topics: Mapping[str, Topic], position: QueryPosition
) -> list[str]:
    at = positions_of(position)
    deleted = (DELETED_INPUT(lost=lost) for lost in deleted_unread(topics, at))
    unread = common.unread_ranges(topics, at)
    return [
        *deleted,
        *load_risks(request, topics, unread, limit="--rate"),
        *retention_risks(request.inspector, topics, unread, request.options.get("rate")),
    ]


RISKS = (
    WRITES_TO_SINK,
    UP_TO_LATEST,
    RATE_ON_AVERAGE,
    LATE_DROPPED,
    SPARK_MASTER,
    DELETED_INPUT,
    common.FIRST_BATCH_UNLIMITED,
    LEAST_SECONDS,
    *LOAD_RISKS,
    FIRST_RECORD_EXPIRES,
    *options.RISKS,
)
