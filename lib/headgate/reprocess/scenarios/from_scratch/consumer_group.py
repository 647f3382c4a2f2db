"""From scratch for a plain consumer group: every partition's offset to the log's beginning."""

from __future__ import annotations

from headgate.plan.plan import Plan
from headgate.plan.scenario import Asked
from headgate.plan.scenarios.move_group import Wish, move_group
from headgate.plan.target import Place, Target


def build(asked: Asked) -> Plan:
    """Return the plan; every partition moves, also one that was never committed."""
    return move_group(asked, Wish(target=Target(place=Place.BEGINNING)))
