"""One request: its plan with what it costs, what was decided, and the decision to take."""

from __future__ import annotations

import streamlit as st

from headgate.model.person import is_same_person
from headgate.store.rows import AuditRow, RequestRow, RequestState
from headgate.text.numbers import short_time
from headgate.ui.reprocess.impact_panel import impact_tiles
from headgate.ui.reprocess.plan_view import plan_consequences, plan_steps, plan_verdict
from headgate.ui.shared import markup
from headgate.ui.shared.error_message import act
from headgate.ui.shared.keys import Param, RequestsKey
from headgate.ui.shared.markup import Code
from headgate.ui.shared.person import ask_name
from headgate.usecases.context import Context
from headgate.usecases.requests.decide_request import (
    approve_request,
    cancel_request,
    decline_request,
)
from headgate.usecases.requests.list_requests import RequestDetail, read_request
from headgate.views.words.run_columns import scenario_words

HUES = {
    RequestState.OPEN: "unknown",
    RequestState.APPROVED: "added",
    RequestState.DECLINED: "refuses",
    RequestState.CANCELLED: "removed",
}
_WORDS = {
    "request": "requested",
    "approve": "approved",
    "decline": "declined",
    "cancel": "cancelled the request",
}


def request_view(context: Context, request: str) -> None:
    """Show a request, and offer the decision while it is open."""
    detail = read_request(context, request)
    _head(detail.row)
    if detail.row.state is RequestState.OPEN:
        # Of a request that is decided, "Can run" would no longer be true.
        plan_verdict(detail.plan)
    impact_tiles(detail.plan)
    if detail.row.state is RequestState.OPEN:
        _decide(context, detail)
    elif detail.row.run is not None:
        st.page_link(
            "pages/runs.py", label="Open run", icon=":material/list_alt:",
            query_params={Param.RUN.value: detail.row.run},
        )  # fmt: skip
    plan_consequences(detail.plan)
    plan_steps(detail.plan)
    st.html(markup.section("History") + markup.bullets(map(_line, detail.audit)))


def _head(row: RequestRow) -> None:
    decided = f"{short_time(row.decided_at)} by {row.decided_by}" if row.decided_at else None
    st.html(
        markup.heading(scenario_words(row), row.pipeline)
        + markup.pill(row.state.value, HUES[row.state])
        + markup.facts(
            [
                ("Reason", row.reason),
                ("Requested", f"{short_time(row.asked_at)} by {row.asked_by}"),
                ("Decided", decided),
                ("Reason for the decision", row.decision),
                ("Request", Code(row.id)),
                ("Plan hash", Code(row.plan_hash[:12])),
            ]
        )
    )


def _line(entry: AuditRow) -> str:
    why = f": {entry.details['reason']}" if entry.details.get("reason") else ""
    return f"{short_time(entry.at)} {entry.by} {_WORDS.get(entry.action, entry.action)}{why}"


def _decide(context: Context, detail: RequestDetail) -> None:
    row = detail.row
    with st.container(border=True, key="decision"):
        name = ask_name(RequestsKey.NAME)
        reason = st.text_input(
            "Reason",
            key=RequestsKey.REASON,
            placeholder="Required to decline",
            help="Reason for your decision. The audit trail stores it.",
        ).strip()
        with st.container(horizontal=True):
            if is_same_person(row.asked_by, name or ""):
                if name == row.asked_by and st.button("Cancel request", key=RequestsKey.CANCEL):
                    act(lambda: cancel_request(context, row.id, by=name or ""))
                st.html(markup.quiet("You made this request: another person must approve it."))
                return
            if st.button("Approve and run", key=RequestsKey.APPROVE, type="primary",
                         disabled=name is None, icon=":material/play_arrow:"):  # fmt: skip
                act(
                    lambda: approve_request(
                        context, row.id, by=name or "", seen=row.plan_hash, reason=reason or None
                    )
                )
            if st.button(
                "Decline request", key=RequestsKey.DECLINE, disabled=not (name and reason)
            ):
                act(lambda: decline_request(context, row.id, by=name or "", reason=reason))
        if name is None:
            st.html(markup.quiet("Enter your name for the audit trail."))
