"""From scratch for a Kafka Streams application: inputs to the beginning, no state, no leftovers."""

from __future__ import annotations

from headgate.plan.plan import Plan
from headgate.plan.scenario import Asked
from headgate.plan.scenarios import from_point_streams
from headgate.plan.target import Place, Target


def build(asked: Asked) -> Plan:
    """Return the plan; every partition moves, also one that was never committed."""
    return from_point_streams.build(asked, Target(place=Place.BEGINNING))
