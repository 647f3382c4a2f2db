"""From scratch: begin again at the beginning of every input, with empty state."""

from __future__ import annotations

from headgate.model.version import Engine
from headgate.reprocess.conditions import CHECKPOINT, PASSES_LOCATION
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import SUPPORTED, Asked, Scenario, needs
from headgate.reprocess.scenarios.shared import kafka_streams_options as streams_options
from headgate.reprocess.scenarios.shared import output_topics as outputs
from headgate.reprocess.scenarios.shared.output_topics import with_outputs


def build(asked: Asked) -> Plan:
    """Return the plan for the pipeline's engine, whose module alone is imported."""
    if asked.pipeline.engine is Engine.SPARK:
        from headgate.reprocess.scenarios.from_scratch import spark as from_scratch_spark

        return with_outputs(asked, from_scratch_spark.build(asked))
    if asked.pipeline.engine is Engine.KAFKA_STREAMS:
        from headgate.reprocess.scenarios.from_scratch import kafka_streams as from_scratch_streams

        plan = from_scratch_streams.build(asked)
        # Who reads outputs that stay is named with the other risks of a reset.
        return with_outputs(asked, plan) if "outputs" in asked.options else plan
    from headgate.reprocess.scenarios.from_scratch import consumer_group as from_scratch_group

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
