"""All runs: what was requested, by whom, and the outcome; one run step by step."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.errors import HeadgateError
from headgate.store.rows import RunFacts
from headgate.text.numbers import plural
from headgate.ui.runs.run_view import run_view
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import selected
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import Param, RunsKey
from headgate.ui.shared.page import open_page, title
from headgate.ui.shared.row_table import pick_row
from headgate.usecases.context import Context
from headgate.usecases.runs.list_runs import list_runs
from headgate.views.words.run_columns import RUN_COLUMNS

PAGE = 100
"""Runs in one table."""
WIDTHS = {
    "State": 95, "Pipeline": 110, "Scenario": 110, "Requested (UTC)": 150, "Requester": 85,
    "Duration": 75, "Run": 100,
}  # fmt: skip
SIGNS = {
    "queued": "◷", "running": "…", "done": "✓", "refused": "!", "failed": "!", "cancelled": "–",
}  # fmt: skip


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        show_problem(error)


def _page(context: Context) -> None:
    number = max(0, int(st.session_state.get(RunsKey.PAGE) or 0))
    found = list_runs(context, limit=PAGE, offset=number * PAGE)
    rows = found.rows
    if not found.total:
        title("Runs")
        st.html(
            markup.empty(
                "No runs yet",
                "Open Reprocess, plan a scenario and choose Run plan. Each step is recorded here, "
                "and you can undo a run here.",
            )
        )
        return
    title("Runs", f"{plural(found.total, 'run')}, {found.active} active")
    with st.container(key="rows"):
        table, one = st.columns([3, 2], gap="medium")
    with table:
        pick_row(
            _frame(rows), [r.id for r in rows],
            key=f"{RunsKey.TABLE}-{number}", param=Param.RUN, widths=WIDTHS,
        )  # fmt: skip
        if found.total > PAGE:
            _turn_pages(number, found.total)
    with one, st.container(border=True, key="details"):
        if run := selected(Param.RUN) or next((r.id for r in rows), None):
            run_view(context, run)


def _turn_pages(number: int, total: int) -> None:
    """Show which runs these are, and go to newer or older ones."""
    first, last = number * PAGE + 1, min((number + 1) * PAGE, total)
    said, newer, older = st.columns([4, 1, 1], vertical_alignment="center")
    with said:
        st.caption(f"Runs {first:,} to {last:,} of {total:,}, newest first")
    with newer:
        st.button("Newer runs", key=RunsKey.NEWER, disabled=not number, width="stretch",
                  on_click=_open_page, args=(number - 1,))  # fmt: skip
    with older:
        st.button("Older runs", key=RunsKey.OLDER, disabled=last >= total, width="stretch",
                  on_click=_open_page, args=(number + 1,))  # fmt: skip


def _open_page(number: int) -> None:
    st.session_state[RunsKey.PAGE] = number


def _frame(rows: Sequence[RunFacts]) -> pd.DataFrame:
    columns = {heading: [text(r) for r in rows] for heading, text in RUN_COLUMNS}
    return pd.DataFrame(columns | {"State": [f"{SIGNS.get(r.state, '')} {r.state}" for r in rows]})


main()
