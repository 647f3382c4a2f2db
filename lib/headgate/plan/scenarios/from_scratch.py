"""From scratch: begin again at the beginning of every input, with empty state."""

from __future__ import annotations

from headgate.model.registry import Pipeline
from headgate.model.version import Engine, Version
from headgate.plan.plan import Plan
from headgate.plan.scenarios import from_scratch_group, from_scratch_spark
from headgate.plan.world import World

NAME = "from-scratch"


def build(pipeline: Pipeline, world: World, version: Version | None) -> Plan:
    """Return the plan for the pipeline's engine; a Kafka Streams one is refused for now."""
    match pipeline.engine:
        case Engine.SPARK:
            return from_scratch_spark.build(NAME, pipeline, world, version)
        case Engine.CONSUMER_GROUP:
            return from_scratch_group.build(NAME, pipeline, world)
        case Engine.KAFKA_STREAMS:
            return Plan(scenario=NAME, pipeline=pipeline.name, refusals=(_STREAMS,))


_STREAMS = (
    "a Kafka Streams application also has internal topics and local state, which this release"
    " does not reset yet: moving its offsets alone would count everything twice"
)
