"""Requests: read a plan with its costs, and approve or decline the request."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.errors import HeadgateError
from headgate.store.rows import RequestRow, RequestState
from headgate.text.numbers import day_and_time, plural
from headgate.ui.requests.request_view import request_view
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import selected
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import Param, RequestsKey
from headgate.ui.shared.page import open_page, title
from headgate.ui.shared.row_table import pick_row
from headgate.usecases.context import Context
from headgate.usecases.requests.list_requests import list_requests
from headgate.views.words.run_columns import scenario_words

WIDTHS = {
    "State": 95, "Pipeline": 115, "Scenario": 115, "Reason": 140, "Requested (UTC)": 112,
    "Requester": 95,
}  # fmt: skip
SIGNS = {"open": "?", "approved": "✓", "declined": "!", "cancelled": "–"}


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        show_problem(error)


def _page(context: Context) -> None:
    rows = list_requests(context)
    if not rows:
        title("Requests")
        st.html(
            markup.empty(
                "No requests yet",
                "Open Reprocess, plan a scenario and choose Request approval. Another person "
                "approves or declines the request here.",
            )
        )
        return
    waiting = sum(row.state is RequestState.OPEN for row in rows)
    title("Requests", f"{plural(len(rows), 'request')}, {waiting} open")
    with st.container(key="rows"):
        table, one = st.columns([3, 2], gap="medium")
    with table:
        pick_row(
            _frame(rows), [r.id for r in rows],
            key=RequestsKey.TABLE, param=Param.REQUEST, widths=WIDTHS,
        )  # fmt: skip
    with one, st.container(border=True, key="details"):
        if request := selected(Param.REQUEST):
            request_view(context, request)
        else:
            st.html(markup.quiet("Select a request to see its plan."))


def _frame(rows: Sequence[RequestRow]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "State": [f"{SIGNS.get(r.state, '')} {r.state.value}" for r in rows],
            "Pipeline": [r.pipeline for r in rows],
            "Scenario": [scenario_words(r) for r in rows],
            "Reason": [r.reason for r in rows],
            "Requested (UTC)": [day_and_time(r.asked_at) for r in rows],
            "Requester": [r.asked_by for r in rows],
        }
    )


main()
