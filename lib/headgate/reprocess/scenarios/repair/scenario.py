"""Repair: remove what a failed upgrade or a crash left, so that the query starts again."""

from __future__ import annotations

from headgate.model.version import Engine
from headgate.reprocess.conditions import LOCAL
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import (
    SUPPORTED,
    Kind,
    Option,
    PlanRequest,
    Scenario,
    needs,
    refused,
)
from headgate.reprocess.scenarios.repair import consumer_group as repair_group
from headgate.reprocess.scenarios.repair import spark as repair_spark


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine."""
    if request.pipeline.engine is Engine.SPARK:
        return repair_spark.build(request)
    return repair_group.build(request)


_SPARK = frozenset({Engine.SPARK})
OPTIONS = (
    Option(
        name="uncommitted",
        ask="Remove the uncommitted batch, even if it looks intact",
        help=(
            "Also remove an uncommitted batch that looks intact. Use this if the query fails on "
            "this batch."
        ),
        kind=Kind.FLAG,
        engines=_SPARK,
    ),
    Option(
        name="query-id",
        ask="Query id",
        help="Query id to write if the `metadata` file is lost. The query's progress and logs show "
        "the id.",
        metavar="ID",
        engines=_SPARK,
    ),
    Option(
        name="beyond",
        ask="New position if an offset is after the latest offset",
        help="If a committed offset is after the latest offset, start at: beginning (the topic "
        "was recreated, so all its partitions start there), end (the newest records were lost), "
        "or last-known (last position in the journal or in the worker's checks).",
        kind=Kind.CHOICE,
        choices=("beginning", "end", repair_group.LAST_KNOWN),
        engines=frozenset({Engine.CONSUMER_GROUP}),
    ),
    Option(
        name="abort-transaction",
        ask="Open transactions to abort",
        help=(
            "Open transaction on an input topic to abort: its id, or TOPIC:PARTITION:PRODUCER if "
            "it has none; can be repeated. An abort can't be undone."
        ),
        kind=Kind.MANY,
        metavar="ID",
        engines=frozenset({Engine.CONSUMER_GROUP}),
    ),
)

SCENARIO = Scenario(
    name="repair",
    title="Repair",
    short="Repair a checkpoint, offsets or an open transaction.",
    what="Repair a broken checkpoint, reset committed offsets that are out of range, or abort an "
    "open transaction that blocks consumers.",
    build=build,
    steps=(
        "stop_pipeline",
        "repair_copy",
        "verify_repair",
        "swap_repaired_checkpoint",
        "record_offsets",
        "reset_offsets",
        "start_pipeline",
        "manual_step",
        "abort_transaction",
    ),
    risks=lambda: (*repair_spark.RISKS, *repair_group.RISKS),
    options=OPTIONS,
    support={
        Engine.SPARK: needs(LOCAL),
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: refused(
            "repaired offsets of a Kafka Streams application would not match its state (changelog "
            "topics and the instances' disks). Kafka Streams restores its stores itself. To "
            "rebuild the stores, use from-scratch"
        ),
    },
)
