"""Request a run that another person approves or declines."""

from __future__ import annotations

from contextlib import closing

from headgate.errors import RefusedError, ScenarioError
from headgate.reprocess.plan import Plan, dump_plan
from headgate.store import open_store
from headgate.store.rows import NewRequest
from headgate.usecases.context import Context


def request_plan(context: Context, plan: Plan, *, reason: str, by: str) -> str:
    """Return the id of a new request for a plan that the requester has seen."""
    if not reason.strip():
        raise ScenarioError("to request a run, give a reason for the approver with --reason")
    if not plan.can_apply or plan.pipeline is None:
        if not plan.blockers:
            raise RefusedError("the plan has no steps. Choose another scenario or other options")
        why = "; ".join(plan.blockers).rstrip(".")
        raise RefusedError(
            f"the plan is blocked: {why}. Correct this, then run `headgate request` again"
        )
    new = NewRequest(
        scenario=plan.scenario,
        pipeline=plan.pipeline,
        reason=reason.strip(),
        plan_hash=plan.hash,
        plan=dump_plan(plan),
    )
    with closing(open_store(context.store_url)) as store:
        return store.requests.ask(new, by=by)
