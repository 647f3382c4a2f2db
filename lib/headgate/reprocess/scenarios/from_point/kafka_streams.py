"""From an offset or time for a Kafka Streams application: all inputs at one point, and no state."""

from __future__ import annotations

from dataclasses import replace

from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Asked
from headgate.reprocess.scenarios.shared import kafka_streams_options as ask
from headgate.reprocess.scenarios.shared.kafka_streams_reset import (
    StreamsWish,
    build_plan_of,
    look,
    with_targets,
)
from headgate.reprocess.scenarios.shared.kafka_streams_reset_checks import blockers, risks
from headgate.reprocess.steps.offsets.target import Place, Target


def build(asked: Asked, target: Target) -> Plan:
    """Return the plan; its inputs are those of the topology, else what the group has committed."""
    internal = ask.names(asked.options, ask.INTERNAL_TOPICS)
    listed = tuple(sorted({row.topic for row in target.listed}))
    return reset(
        asked,
        StreamsWish(
            target=target,
            inputs=listed if target.place is Place.LISTED else None,
            intermediate=ask.names(asked.options, ask.INTERMEDIATE_TOPICS),
            internal=internal or None,
            keep_internal=ask.KEEP_INTERNAL.name in asked.options,
            back_up=ask.BACK_UP.name in asked.options,
            instances=ask.names(asked.options, ask.CLEARED),
        ),
    )


def reset(asked: Asked, wish: StreamsWish) -> Plan:
    """Return the plan of a wish, can_apply or not."""
    seen = look(asked, wish)
    seen = replace(seen, found=with_targets(seen))
    return build_plan_of(seen, blockers=blockers(seen), risks=risks(seen))
