"""From scratch for a Kafka Streams application: inputs to the beginning, no state, no leftovers."""

from __future__ import annotations

from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.from_point import kafka_streams as from_point_streams
from headgate.reprocess.steps.offsets.target import Target, TargetKind


def build(request: PlanRequest) -> Plan:
    """Return the plan; every partition moves, also one that was never committed."""
    return from_point_streams.build(request, Target(place=TargetKind.BEGINNING))
