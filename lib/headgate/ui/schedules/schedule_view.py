"""One schedule: when it is due, its limits, its newest ticks, and a button that pauses it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from headgate.text.numbers import day_and_time, exact, plural, short_time, up_to
from headgate.ui.shared import markup
from headgate.ui.shared.error_message import act
from headgate.ui.shared.keys import Param, SchedulesKey
from headgate.ui.shared.markup import Code
from headgate.ui.shared.person import ask_name
from headgate.usecases.context import Context
from headgate.usecases.schedules.list_schedules import (
    ScheduleView,
    TickView,
    pause_schedule,
    resume_schedule,
)

SIGNS = {
    "waiting": "◷", "queued": "◷", "running": "…", "open": "?", "done": "✓", "skipped": "–",
    "cancelled": "–", "declined": "!", "failed": "!", "refused": "!",
}  # fmt: skip
MISSED = {"once": "one run for all", "skip": "no run", "all": "one run for each"}


def state_of(view: ScheduleView) -> tuple[str, str]:
    """Return the word and the hue of a schedule: active, paused, or waiting for approval."""
    if view.stored.paused_at is not None:
        return "paused", "removed"
    if view.last is not None and view.last.outcome == "open":
        return "waits for approval", "unknown"
    return "active", "added"


def schedule_view(context: Context, view: ScheduleView) -> None:
    """Show a schedule, and offer to pause or to resume it."""
    stored, schedule = view.stored, view.stored.schedule
    paused = stored.paused_at and f"{short_time(stored.paused_at)} by {stored.paused_by}"
    st.html(
        markup.heading(schedule.when, stored.pipeline)
        + markup.pill(*state_of(view))
        + markup.facts(
            [
                ("Next tick (UTC)", next_text(view)),
                ("Missed ticks", MISSED[schedule.missed.value]),
                ("Limits of a run", schedule.limits or "none"),
                ("Sink", schedule.approved["target"]),
                ("Paused", paused or None),
                ("Created", f"{short_time(stored.created_at)} by {stored.created_by}"),
                ("Approved by", stored.approved_by),
                ("Created in run", Code(stored.run)),
            ]
        )
    )
    _buttons(context, view)
    _links(view)
    if view.ticks:
        st.html(markup.section("Ticks"))
        st.dataframe(_frame(view.ticks), hide_index=True, height="content", key=SchedulesKey.TICKS)
    else:
        st.html(
            markup.quiet(
                "The schedule has had no tick yet. If no worker is running, ticks start no runs: "
                "start a worker with `headgate up`."
            )
        )


def next_text(view: ScheduleView, *, short: bool = False) -> str:
    """Return when the next tick is due."""
    if view.stored.paused_at is not None:
        return "paused"
    if view.next_at is None:
        return "when the condition is met"
    return day_and_time(view.next_at) if short else short_time(view.next_at)


def _buttons(context: Context, view: ScheduleView) -> None:
    pipeline = view.stored.pipeline
    with st.container(border=True, key="decision"):
        name = ask_name(SchedulesKey.NAME)
        with st.container(horizontal=True):
            if view.stored.paused_at is None:
                if st.button("Pause schedule", key=SchedulesKey.PAUSE, disabled=name is None,
                             icon=":material/pause:"):  # fmt: skip
                    act(lambda: pause_schedule(context, pipeline, by=name or ""))
            elif st.button("Resume schedule", key=SchedulesKey.RESUME, disabled=name is None,
                           icon=":material/play_arrow:"):  # fmt: skip
                act(lambda: resume_schedule(context, pipeline, by=name or ""))
        if name is None:
            st.html(markup.quiet("Enter your name for the audit trail."))


def _links(view: ScheduleView) -> None:
    """Link the request that the newest tick waits for, the newest run, and the schedule's own."""
    last = view.last
    request = last.tick.request if last is not None and last.outcome == "open" else None
    if last is not None and request is not None:
        st.html(markup.say(f"The newest tick waits for approval: {last.tick.reason}.", "unknown"))
    run = next((t.run for t in view.ticks if t.run), None)
    with st.container(horizontal=True):
        if request is not None:
            _link("requests", "Open request", Param.REQUEST, request)
        if run is not None:
            _link("runs", "Open newest run", Param.RUN, run)
        _link("runs", "Open run that created the schedule", Param.RUN, view.stored.run)


def _link(page: str, label: str, param: Param, value: str) -> None:
    st.page_link(
        f"pages/{page}.py", label=label, icon=":material/list_alt:",
        query_params={param.value: value},
    )  # fmt: skip


def outcome_text(view: TickView) -> str:
    """Return a tick's outcome with its sign."""
    word = "waits for approval" if view.outcome == "open" else view.outcome
    return f"{SIGNS.get(view.outcome, '')} {word}"


def _frame(ticks: Sequence[TickView]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Due (UTC)": [short_time(t.tick.due_at) for t in ticks],
            "Outcome": [outcome_text(t) for t in ticks],
            "Records": ["" if (n := t.tick.records) is None else up_to(n, exact(n))
                        for t in ticks],
            "Reason": [_reason(t) for t in ticks],
        }
    )  # fmt: skip


def _reason(view: TickView) -> str:
    missed = f"includes {plural(view.tick.missed, 'missed tick')}" if view.tick.missed else ""
    return "; ".join(filter(None, (view.tick.reason, missed)))
