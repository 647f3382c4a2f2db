"""From scratch for a plain consumer group: every partition's offset to the log's beginning."""

from __future__ import annotations

from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Asked
from headgate.reprocess.scenarios.shared.consumer_group_offsets import Wish, move_group
from headgate.reprocess.steps.offsets.target import Place, Target


def build(asked: Asked) -> Plan:
    """Return the plan; every partition moves, also one that was never committed."""
    return move_group(asked, Wish(target=Target(place=Place.BEGINNING)))
