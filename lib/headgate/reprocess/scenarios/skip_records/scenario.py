"""Skip: back up one poison record, or a range of one partition, and skip it."""

from __future__ import annotations

from dataclasses import replace

from headgate.model.version import Engine
from headgate.reprocess.conditions import ALL_KAFKA, BATCH_DONE, CUT_COMMANDS, LOCAL
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import SUPPORTED, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.rewind import scenario as rewind
from headgate.reprocess.scenarios.skip_records import consumer_group as skip_group
from headgate.reprocess.scenarios.skip_records import spark as skip_spark

_SPARK = frozenset({Engine.SPARK})
_SINK = tuple(replace(o, engines=_SPARK) for o in rewind.OPTIONS if o.name in ("sink", "sink-path"))


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine."""
    if request.pipeline.engine is Engine.SPARK:
        return skip_spark.build(request)
    return skip_group.build(request)


SCENARIO = Scenario(
    name="skip-records",
    title="Skip records",
    short="Back up and skip records of one partition.",
    what="Back up and skip a poison record, or a range of records in one partition.",
    build=build,
    steps=(
        "stop_pipeline",
        "record_offsets",
        "start_pipeline",
        "manual_step",
        "back_up_records",
        "skip_records",
        "cut_copy",
        "swap_cut_checkpoint",
        "finish_batch",
    ),
    risks=lambda: (*skip_spark.RISKS, *skip_group.RISKS),
    options=(
        Option(
            name="records",
            ask="Records to skip",
            help="Offset to skip, or a range of offsets in one partition (first and last "
            "included).",
            metavar="TOPIC:PARTITION:OFFSET[-LAST]",
            required=True,
        ),
        *_SINK,
    ),
    support={
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: SUPPORTED,
        Engine.SPARK: needs(
            LOCAL,
            ALL_KAFKA,
            BATCH_DONE,
            CUT_COMMANDS,
            note="The query first processes the records before the skipped records.",
        ),
    },
)
