"""All schedules with their next and newest ticks; one schedule with all its ticks."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.errors import HeadgateError
from headgate.text.numbers import day_and_time, plural
from headgate.ui.schedules.schedule_view import (
    MISSED,
    next_text,
    outcome_text,
    schedule_view,
    state_of,
)
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import selected
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import Param, SchedulesKey
from headgate.ui.shared.page import open_page, title
from headgate.ui.shared.row_table import pick_row
from headgate.usecases.context import Context
from headgate.usecases.schedules.list_schedules import ScheduleView, has_worker, list_schedules

WIDTHS = {
    "State": 85, "Pipeline": 100, "When": 95, "Next tick (UTC)": 112, "Last tick (UTC)": 112,
    "Outcome": 95, "Limits": 80, "Missed ticks": 95,
}  # fmt: skip


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        show_problem(error)


def _page(context: Context) -> None:
    views = list_schedules(context)
    if not views:
        title("Schedules")
        st.html(
            markup.empty(
                "No schedules yet",
                "Open Reprocess, choose a pipeline and plan Scheduled runs. The worker then runs "
                "the pipeline at each tick.",
            )
        )
        return
    paused = sum(view.stored.paused_at is not None for view in views)
    title("Schedules", f"{plural(len(views), 'schedule')}, {paused} paused")
    if not has_worker(context):
        st.html(
            markup.say(
                "No worker is running, so ticks are missed. Start a worker with `headgate up`.",
                "unknown",
            )
        )
    with st.container(key="rows"):
        table, one = st.columns([3, 2], gap="medium")
    names = [view.stored.pipeline for view in views]
    with table:
        pick_row(_frame(views), names, key=SchedulesKey.TABLE, param=Param.SCHEDULE, widths=WIDTHS)
    chosen = selected(Param.SCHEDULE) or names[0]
    with one, st.container(border=True, key="details"):
        found = next((view for view in views if view.stored.pipeline == chosen), None)
        if found is None:
            st.html(markup.quiet(f"`{chosen}` has no schedule. Select a schedule in the table."))
        else:
            schedule_view(context, found)


def _frame(views: Sequence[ScheduleView]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "State": [state_of(v)[0] for v in views],
            "Pipeline": [v.stored.pipeline for v in views],
            "When": [v.stored.schedule.when for v in views],
            "Next tick (UTC)": [next_text(v, short=True) for v in views],
            "Last tick (UTC)": [day_and_time(v.last.tick.due_at) if v.last else "" for v in views],
            "Outcome": [outcome_text(v.last) if v.last else "" for v in views],
            "Limits": [v.stored.schedule.limits or "none" for v in views],
            "Missed ticks": [MISSED[v.stored.schedule.missed.value] for v in views],
        }
    )


main()
