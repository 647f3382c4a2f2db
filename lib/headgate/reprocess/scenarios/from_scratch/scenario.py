"""From scratch: begin again at the beginning of every input, with empty state."""

from __future__ import annotations

from headgate.model.version import Engine
from headgate.plan.conditions import CHECKPOINT, PASSES_LOCATION
from headgate.plan.plan import Plan
from headgate.plan.scenario import SUPPORTED, Asked, Scenario, needs
from headgate.plan.scenarios import outputs, streams_options
from headgate.plan.scenarios.outputs import with_outputs


def build(asked: Asked) -> Plan:
    """Return the plan for the pipeline's engine, whose module alone is imported."""
    if asked.pipeline.engine is Engine.SPARK:
        from headgate.plan.scenarios import from_scratch_spark

        return with_outputs(asked, from_scratch_spark.build(asked))
    if asked.pipeline.engine is Engine.KAFKA_STREAMS:
        from headgate.plan.scenarios import from_scratch_streams

        plan = from_scratch_streams.build(asked)
        # Who reads outputs that stay is named with the other risks of a reset.
        return with_outputs(asked, plan) if "outputs" in asked.options else plan
    from headgate.plan.scenarios import from_scratch_group

    return with_outputs(asked, from_scratch_group.build(asked))


SCENARIO = Scenario(
    name="from-scratch",
    title="From scratch",
    what="Forget the state and read everything again that the inputs still hold.",
    build=build,
    options=(*outputs.OPTIONS, *streams_options.OPTIONS),
    support={
        Engine.SPARK: needs(CHECKPOINT, PASSES_LOCATION),
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: SUPPORTED,
    },
)
