"""Ask for a run: a plan that somebody else decides on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from headgate.errors import RefusedError, ScenarioError
from headgate.reprocess.plan import Plan, dump_plan
from headgate.store import open_store
from headgate.store.rows import NewRequest
from headgate.usecases.context import Context
from headgate.usecases.reprocess.plan_scenario import plan_scenario


def ask_for_run(
    context: Context,
    scenario: str,
    pipeline: str,
    options: Mapping[str, Any] | None = None,
    *,
    reason: str,
    by: str,
) -> str:
    """Plan it now and return the id of the request for exactly this plan.

    ScenarioError without a reason, RefusedError where the plan may not be applied, and what
    `plan_scenario` raises.
    """
    plan = plan_scenario(context, scenario, pipeline, options)
    return ask_for_plan(context, plan, reason=reason, by=by)


def ask_for_plan(context: Context, plan: Plan, *, reason: str, by: str) -> str:
    """Return the id of the request for a plan that somebody has seen."""
    if not reason.strip():
        raise ScenarioError("a request needs a reason for the approver: give one with --reason")
    if not plan.can_apply or plan.pipeline is None:
        why = "; ".join(plan.blockers) or "there is nothing to do"
        raise RefusedError(f"the plan is blocked: {why}")
    new = NewRequest(
        scenario=plan.scenario,
        pipeline=plan.pipeline,
        reason=reason.strip(),
        plan_hash=plan.hash,
        plan=dump_plan(plan),
    )
    with closing(open_store(context.store_url)) as store:
        return store.requests.ask(new, by=by)
