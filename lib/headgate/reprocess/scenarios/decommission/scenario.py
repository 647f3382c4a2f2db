"""Decommission: remove everything that an application has left behind, by exact ownership."""

from __future__ import annotations

from dataclasses import replace

from headgate.model.version import Engine
from headgate.reprocess.conditions import LOCAL
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import SUPPORTED, Kind, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.decommission import consumer_group as decommission_group
from headgate.reprocess.scenarios.decommission import kafka_streams as decommission_streams
from headgate.reprocess.scenarios.decommission import spark as decommission_spark
from headgate.reprocess.scenarios.shared.kafka_streams_options import (
    CLEARED,
    INTERNAL_TOPICS,
    KEEP_INTERNAL,
)


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine."""
    if request.pipeline.engine is Engine.SPARK:
        return decommission_spark.build(request)
    if request.pipeline.engine is Engine.KAFKA_STREAMS:
        return decommission_streams.build(request)
    return decommission_group.build(request)


BACK_UP = Option(
    name="back-up",
    ask="Back up the records of internal topics",
    help="Copy the records of internal topics to backup topics first; an undo restores them.",
    kind=Kind.FLAG,
    engines=frozenset({Engine.KAFKA_STREAMS}),
)

# Of a pipeline that is gone, no record is reprocessed.
_KEEP_INTERNAL = replace(KEEP_INTERNAL, help="Keep internal topics and local state.")

SCENARIO = Scenario(
    name="decommission",
    title="Decommission",
    short="Remove what a stopped pipeline left behind.",
    what="Remove the group, internal topics, checkpoint and state of a stopped pipeline.",
    build=build,
    steps=(
        "stop_pipeline",
        "record_offsets",
        "back_up_records",
        "delete_group",
        "delete_subjects",
        "move_to_backup",
        "delete_topics",
        "back_up_unread_records",
        "await_transactions",
        "clear_local_state",
    ),
    risks=lambda: (
        *decommission_spark.RISKS,
        *decommission_streams.RISKS,
        *decommission_group.RISKS,
    ),
    options=(BACK_UP, INTERNAL_TOPICS, _KEEP_INTERNAL, CLEARED),
    support={
        Engine.SPARK: needs(LOCAL),
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: SUPPORTED,
    },
)
