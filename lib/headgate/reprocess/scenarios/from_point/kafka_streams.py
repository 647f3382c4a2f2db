"""From an offset or time for a Kafka Streams application: all inputs, and empty state."""

from __future__ import annotations

from dataclasses import replace

from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import kafka_streams_options
from headgate.reprocess.scenarios.shared.kafka_streams_reset import (
    ResetRequest,
    build_plan_of,
    look,
    with_targets,
)
from headgate.reprocess.scenarios.shared.kafka_streams_reset_checks import blockers, risks
from headgate.reprocess.steps.offsets.target import Target, TargetKind


def build(request: PlanRequest, target: Target) -> Plan:
    """Return the plan; its inputs are those of the topology, else what the group has committed."""
    internal = kafka_streams_options.names(request.options, kafka_streams_options.INTERNAL_TOPICS)
    listed = tuple(sorted({row.topic for row in target.listed}))
    return reset(
        request,
        ResetRequest(
            target=target,
            inputs=listed if target.place is TargetKind.LISTED else None,
            intermediate=kafka_streams_options.names(
                request.options, kafka_streams_options.INTERMEDIATE_TOPICS
            ),
            internal=internal or None,
            keep_internal=kafka_streams_options.KEEP_INTERNAL.name in request.options,
            back_up=kafka_streams_options.BACK_UP.name in request.options,
            instances=kafka_streams_options.names(request.options, kafka_streams_options.CLEARED),
        ),
    )


def reset(request: PlanRequest, wish: ResetRequest) -> Plan:
    """Return the plan of a wish, with or without blockers."""
    seen = look(request, wish)
    seen = replace(seen, found=with_targets(seen))
    return build_plan_of(seen, blockers=blockers(seen), risks=risks(seen))
