"""From scratch for a plain consumer group: every partition's offset to the log's beginning."""

from __future__ import annotations

from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.consumer_group_offsets import OffsetsRequest, move_group
from headgate.reprocess.steps.offsets.target import Target, TargetKind


def build(request: PlanRequest) -> Plan:
    """Return the plan; every partition moves, also one that was never committed."""
    return move_group(request, OffsetsRequest(target=Target(place=TargetKind.BEGINNING)))
