"""Offer a chain if the plan of one pipeline causes duplicates in downstream pipelines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headgate.landscape.pipeline_topics import writes
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.pipeline_links import read_links
from headgate.text.numbers import name_list
from headgate.text.risk import Risk
from headgate.text.times import milliseconds, moment

OFFERS = ("rewind", "from-scratch")
"""The scenarios that offer a chain."""


DOWNSTREAM_DUPLICATES = Risk(
    "downstream pipelines get duplicates: {pipelines}. To rewind these pipelines, too, run "
    "`headgate plan chain {pipeline} {option}`{moment}",
    option="--at=TIME",
    moment="",
)


def with_chain_offer(request: PlanRequest, plan: Plan) -> Plan:
    """Return the plan with the command of a chain, if registered pipelines are downstream."""
    version = request.versions(request.pipeline.name) or request.version
    is_kept = request.options.get("outputs", "keep") == "keep"
    # Who writes to no topic, or to new ones, leaves nothing to those downstream.
    if not plan.steps or not is_kept or version is None or not writes(version):
        return plan
    if not request.inspector.kafka.has_cluster() or (hint := _moment(request, plan)) is None:
        return plan
    found = [m.name for m in read_links(request).next_of(request.pipeline.name)]
    if not found:
        return plan
    option, what = hint
    risk = DOWNSTREAM_DUPLICATES(
        pipelines=name_list(found),
        pipeline=shlex.quote(request.pipeline.name),
        option=option,
        moment=what,
    )
    return replace(plan, risks=(*plan.risks, risk))


def _moment(request: PlanRequest, plan: Plan) -> tuple[str, str] | None:
    """Return the chain's option for the moment of the plan, and what the moment is.

    A chain's moment is a record time. A batch that lagged was planned long after the times of the
    records that follow it: a chain to that time would keep batches that the plan reprocesses.
    """
    if request.scenario == "from-scratch":
        return "--to-earliest", ""
    found = next((d for s in plan.steps if (d := s.details()).get("planned_at")), None)
    if found is None:
        return None
    at, batch = found["planned_at"], found["batch"]
    if _begins_after(request, found):
        return f"--at={at}", ""
    return "--at=TIME", f". TIME is the timestamp of the first record after batch {batch}"


def _begins_after(request: PlanRequest, found: Mapping[str, Any]) -> bool:
    """Whether no record after the batch is older than the time when it was planned."""
    kafka = request.inspector.kafka
    ends = {(row["topic"], row["partition"]): row["to"] for row in found["offsets"]}
    logs = kafka.topics({topic for topic, _ in ends}).values()
    latest = {(t.name, p.number): p.end for t in logs for p in t.partitions}
    first = kafka.first_at(list(latest), milliseconds(moment(found["planned_at"], option="at")))
    for part, end in latest.items():
        begin = first.get(part)
        begin = end if begin is None else begin
        if begin is None or begin > ends.get(part, 0):
            return False
    return True
