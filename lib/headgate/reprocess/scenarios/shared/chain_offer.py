"""Offer a chain where a plan of one pipeline leaves duplicates to those downstream of it."""

from __future__ import annotations

import shlex
from dataclasses import replace

from headgate.landscape.pipeline_topics import writes
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.pipeline_links import read_links
from headgate.text.numbers import name_list

OFFERS = ("rewind", "from-scratch")
"The scenarios that a chain applies to several pipelines."


def with_chain_offer(request: PlanRequest, plan: Plan) -> Plan:
    """Return the plan with the command of a chain, if registered pipelines are downstream."""
    version = request.versions(request.pipeline.name) or request.version
    is_kept = request.options.get("outputs", "keep") == "keep"
    # Who writes to no topic, or to new ones, leaves nothing to those downstream.
    if not plan.steps or not is_kept or version is None or not writes(version):
        return plan
    if not request.inspector.kafka.has_cluster() or (moment := _moment(request, plan)) is None:
        return plan
    found = [m.name for m in read_links(request).next_of(request.pipeline.name)]
    if not found:
        return plan
    risk = (
        f"downstream pipelines get duplicates: {name_list(found)}. To rewind them to the same "
        f"time, run `headgate plan chain {shlex.quote(request.pipeline.name)} {moment}`"
    )
    return replace(plan, risks=(*plan.risks, risk))


def _moment(request: PlanRequest, plan: Plan) -> str | None:
    """Return the chain's option for the moment of the plan; None if nothing tells it."""
    if request.scenario == "from-scratch":
        return "--to-earliest"
    # What the batch read had arrived when it was planned.
    at = next((d["planned_at"] for s in plan.steps if (d := s.details()).get("planned_at")), None)
    return f"--at={at}" if at else None
