"""Approve or decline another person's request, or cancel one's own."""

from __future__ import annotations

from contextlib import closing

from headgate.errors import RefusedError, ScenarioError, StalePlanError
from headgate.gateway.adapters.live import LiveInspector
from headgate.reprocess.plan import load_plan
from headgate.store import Store, open_store
from headgate.store.rows import RequestRow
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import approved_now
from headgate.usecases.runs.apply_plan import estimated, new_run


def approve_request(
    context: Context, request: str, *, by: str, seen: str | None = None, reason: str | None = None
) -> str:
    """Queue the run of a request and return its id.

    `seen` is the hash of the plan that the approver reviewed. The plan is built a second time.
    Raises RefusedError with the differences from the requested plan, or if the plan is blocked now,
    the request was already decided, or the same person requested it.
    """
    with (
        closing(open_store(context.store_url)) as store,
        closing(with_judge(LiveInspector(context.registry, context.home), context)) as inspector,
    ):
        # Before the plan is built: of a request that is decided nobody wants to know more.
        row = store.requests.to_approve(request, by=by)
        plan = load_plan(row.plan, source=f"request {request}")
        if seen not in (None, row.plan_hash):
            raise RefusedError(
                f"the plan of request {request} isn't the plan that you reviewed: review the "
                "request again"
            )
        try:
            now = estimated(context, approved_now(store, inspector, plan))
            context.before_queueing()
            return store.requests.approve(request, new_run(now), by=by, reason=reason)
        except StalePlanError as error:
            raise StalePlanError(f"{error}. {_instead(store, row)}") from error


def _instead(store: Store, row: RequestRow) -> str:
    """Return who replaces a request whose plan is stale."""
    if row.id == store.schedules.open_request(row.pipeline):
        return "The next tick of the schedule replaces the request"
    return (
        f"Decline the request with `headgate decline {row.id}`. Its requester can then run "
        "`headgate request` again"
    )


def decline_request(context: Context, request: str, *, by: str, reason: str) -> None:
    """End a request without a run; ScenarioError without a reason."""
    if not reason.strip():
        raise ScenarioError("to decline a request, give a reason for the requester with --reason")
    with closing(open_store(context.store_url)) as store:
        store.requests.decline(request, by=by, reason=reason.strip())


def cancel_request(context: Context, request: str, *, by: str) -> None:
    """Cancel one's own request."""
    with closing(open_store(context.store_url)) as store:
        store.requests.cancel(request, by=by)
