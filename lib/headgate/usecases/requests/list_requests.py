"""Show the requests, and one request with its plan and history."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from headgate.reprocess.plan import Plan, load_plan
from headgate.store import open_store
from headgate.store.rows import AuditRow, RequestRow
from headgate.usecases.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestDetail:
    """One request with its plan and its history, oldest entry first."""

    row: RequestRow
    plan: Plan
    audit: tuple[AuditRow, ...]


def list_requests(context: Context) -> tuple[RequestRow, ...]:
    """Return all requests, newest first."""
    with closing(open_store(context.store_url)) as store:
        return store.requests.list()


def read_request(context: Context, request: str) -> RequestDetail:
    """Return one request; NotFoundError if there is none with this id."""
    with closing(open_store(context.store_url)) as store:
        row = store.requests.get(request)
        audit = tuple(store.audit.list(request=request))
    return RequestDetail(
        row=row, plan=load_plan(row.plan, source=f"request {request}"), audit=audit
    )
