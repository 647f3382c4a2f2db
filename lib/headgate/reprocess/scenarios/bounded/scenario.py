"""Bounded run: process records up to the latest offsets at the start of the run, then stop."""

from __future__ import annotations

from headgate.model.version import Engine
from headgate.reprocess.conditions import ALL_KAFKA, ENTRY_POINT, LOCAL, Condition, commands
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.bounded import consumer_group, spark

_SPARK = frozenset({Engine.SPARK})


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine."""
    if request.pipeline.engine is Engine.SPARK:
        return spark.build(request)
    return consumer_group.build(request)


_COMMANDS = Condition(need="`start` and `stop` commands", ask=commands("start", "stop"))

SCENARIO = Scenario(
    name="bounded",
    title="Bounded run",
    short="Process records up to the latest offsets, then stop.",
    what="Process records up to the latest offsets at the start of the run, then stop the "
    "pipeline.",
    build=build,
    steps=(
        "stop_pipeline",
        "back_up_checkpoint",
        "back_up_offsets",
        "record_offsets",
        "start_pipeline",
        "manual_step",
        "run_bounded",
        "run_to_offsets",
    ),
    risks=lambda: (*spark.RISKS, *consumer_group.RISKS),
    options=(
        Option(
            name="max-records",
            ask="Maximum records per batch",
            help="Maximum number of records in a batch (default: `maxOffsetsPerTrigger` of the "
            "query). Without any limit, the first batch contains all unread records.",
            kind=Kind.NUMBER,
            metavar="COUNT",
            engines=_SPARK,
        ),
        Option(
            name="rate",
            ask="Maximum records per second",
            help="Rate limit in records per second (default: none). A batch has at most 10 "
            "seconds' worth of records.",
            kind=Kind.NUMBER,
            metavar="N",
            engines=_SPARK,
        ),
        Option(
            name="time-limit",
            ask="Time limit in seconds",
            help="Time limit in seconds (default: none). At the limit, the run stops cleanly. "
            "`headgate resume` then continues to the same offsets.",
            kind=Kind.NUMBER,
            metavar="SECONDS",
        ),
        Option(
            name="start-after",
            ask="Start the pipeline after the run",
            help=(
                "Start the pipeline after the run. Without this option, the pipeline stays stopped."
            ),
            kind=Kind.FLAG,
        ),
    ),
    support={
        Engine.SPARK: needs(
            ENTRY_POINT,
            LOCAL,
            ALL_KAFKA,
            note="Headgate calls the entry point in a separate process, with the pipeline's "
            "checkpoint and sink.",
        ),
        Engine.KAFKA_STREAMS: needs(
            _COMMANDS,
            note="The application also processes records that arrive during the run, until "
            "Headgate stops the application.",
        ),
        Engine.CONSUMER_GROUP: needs(
            _COMMANDS,
            note="The group also processes records that arrive during the run, until Headgate "
            "stops the group.",
        ),
    },
)
