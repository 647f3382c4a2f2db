"""Every run: what was asked for, by whom, how it ended; one of them step by step."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.errors import HeadgateError
from headgate.store.runs import RunRow
from headgate.ui import markup
from headgate.ui.keys import Param, RunsKey
from headgate.ui.page import open_page, title
from headgate.ui.problem import show_problem
from headgate.ui.row_table import pick_row
from headgate.ui.run_view import run_view, took
from headgate.ui.state import selected
from headgate.usecases.context import Context
from headgate.usecases.list_runs import list_runs
from headgate.views.numbers import plural, short_time

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
    rows = list_runs(context)
    active = sum(row.state.is_active for row in rows)
    if not rows:
        title("Runs")
        st.html(
            markup.empty(
                "Nothing was run yet",
                "Plan a scenario under Reprocess. What runs is recorded here step by step,"
                " and can be undone from here.",
            )
        )
        return
    title("Runs", f"{plural(len(rows), 'run')}, {active} under way")
    with st.container(key="rows"):
        table, one = st.columns([3, 2], gap="medium")
    with table:
        pick_row(_frame(rows), [r.id for r in rows], key=RunsKey.TABLE, param=Param.RUN)
    with one, st.container(border=True, key="details"):
        if run := selected(Param.RUN):
            run_view(context, run)
        else:
            st.html(markup.quiet("Select a run to see its journal."))


def _frame(rows: Sequence[RunRow]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "State": [f"{SIGNS.get(r.state, '')} {r.state.value}" for r in rows],
            "Pipeline": [r.pipeline or "" for r in rows],
            "What": [f"undo of {r.undo_of}" if r.undo_of else r.scenario for r in rows],
            "Asked for (UTC)": [short_time(r.created_at) for r in rows],
            "By": [r.created_by for r in rows],
            "Took": [took(r.started_at, r.ended_at) or "" for r in rows],
            "Run": [r.id for r in rows],
        }
    )


main()
