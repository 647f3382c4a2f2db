"""From scratch: restart at the earliest offset of every input, with empty state."""

from __future__ import annotations

from headgate.model.version import Engine
from headgate.reprocess.conditions import CHECKPOINT, PASSES_LOCATION
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import SUPPORTED, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.shared import kafka_streams_options, output_topics
from headgate.reprocess.scenarios.shared.chain_offer import DOWNSTREAM_DUPLICATES
from headgate.reprocess.scenarios.shared.output_topics import with_outputs
from headgate.reprocess.steps.offsets.target import Target, TargetKind
from headgate.text.risk import Risk


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine; only the module of that engine is imported."""
    if request.pipeline.engine is Engine.SPARK:
        from headgate.reprocess.scenarios.from_scratch import spark as from_scratch_spark

        return with_outputs(request, from_scratch_spark.build(request))
    # Every partition moves, also one that was never committed.
    target = Target(place=TargetKind.BEGINNING)
    if request.pipeline.engine is Engine.KAFKA_STREAMS:
        from headgate.reprocess.scenarios.from_point import kafka_streams as from_point_streams

        plan = from_point_streams.build(request, target)
        # Who reads outputs that stay is named with the other risks of a reset.
        return with_outputs(request, plan) if "outputs" in request.options else plan
    from headgate.reprocess.scenarios.shared.consumer_group_offsets import (
        OffsetsRequest,
        move_group,
    )

    return with_outputs(request, move_group(request, OffsetsRequest(target=target)))


def risks() -> tuple[Risk, ...]:
    """Return the risks of all engines, whose modules are imported here."""
    from headgate.reprocess.scenarios.from_scratch import spark
    from headgate.reprocess.scenarios.shared import (
        consumer_group_offsets,
        kafka_streams_reset_checks,
    )

    return (
        *output_topics.RISKS,
        *spark.RISKS,
        *consumer_group_offsets.RISKS,
        *kafka_streams_reset_checks.RISKS,
        DOWNSTREAM_DUPLICATES,
    )


SCENARIO = Scenario(
    name="from-scratch",
    title="From scratch",
    short="Drop the state and reprocess all records.",
    what="Drop the state and reprocess all records that are still in the inputs.",
    build=build,
    steps=(
        "stop_pipeline",
        "verify_output",
        "snapshot_checkpoint",
        "replace_checkpoint",
        "record_offsets",
        "reset_offsets",
        "switch_checkpoint",
        "start_at_checkpoint",
        "start_pipeline",
        "manual_step",
        "back_up_records",
        "move_to_backup",
        "create_topics",
        "delete_topics",
        "delete_records",
        "back_up_unread_records",
        "await_transactions",
        "clear_local_state",
    ),
    risks=risks,
    options=(*output_topics.OPTIONS, *kafka_streams_options.OPTIONS),
    support={
        Engine.SPARK: needs(CHECKPOINT, PASSES_LOCATION),
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: SUPPORTED,
    },
)
