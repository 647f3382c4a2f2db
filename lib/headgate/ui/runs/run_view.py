"""One run: its journal step by step, live while it is under way, and the undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import streamlit as st

from headgate.errors import HeadgateError
from headgate.store.rows import RunState, StepProgress
from headgate.text.numbers import ago, short_time
from headgate.ui.reprocess.plan_view import plan_consequences, plan_steps, plan_verdict
from headgate.ui.runs.catch_up import catch_up
from headgate.ui.runs.journal import journal
from headgate.ui.runs.partition_chart import show_partitions
from headgate.ui.runs.run_report import show_report
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import select
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.error_message import act, sentence, show_problem
from headgate.ui.shared.keys import Param, RunsKey
from headgate.ui.shared.markup import Code
from headgate.ui.shared.page import user
from headgate.ui.shared.person import ask_name
from headgate.usecases.context import Context
from headgate.usecases.runs.cancel_run import cancel_run
from headgate.usecases.runs.confirm_run import confirm_run
from headgate.usecases.runs.read_catch_up import can_catch_up
from headgate.usecases.runs.read_run import (
    RunDetail,
    StepView,
    has_worker,
    kept_until,
    read_run,
)
from headgate.usecases.runs.resume_run import resume_run
from headgate.usecases.runs.undo_run import plan_undo, undo_run
from headgate.views.words.estimate import truth, truth_words
from headgate.views.words.progress import count_words
from headgate.views.words.run_columns import scenario_words, took

REFRESH = 1.0
"""Seconds between two updates of an active run."""
STATES = {
    "done": ("✓", "added", "full"),
    "running": ("…", "changed", "full now"),
    "waiting": ("", "removed", ""),
    "skipped": ("–", "removed", ""),
    "failed": ("!", "refuses", "full"),
    "in_doubt": ("?", "unknown", "full"),
    "undone": ("↶", "removed", "full"),
}
PARTITION_UNIT = "records of "
RUN_HUES = {
    RunState.QUEUED: "unknown",
    RunState.RUNNING: "changed",
    RunState.DONE: "added",
    RunState.REFUSED: "refuses",
    RunState.FAILED: "refuses",
    RunState.CANCELLED: "removed",
}


def run_view(context: Context, run: str) -> None:
    """Show a run; it is refreshed every second until it ends."""
    active = read_run(context, run).row.state.is_active
    st.fragment(_run, run_every=REFRESH if active else None)(context, run, active)


def _run(context: Context, run: str, was_active: bool) -> None:
    detail = read_run(context, run)
    if was_active and not detail.row.state.is_active:
        st.rerun()
    _head(context, detail)
    _notes(context, detail)
    _question(context, detail)
    _actions(context, detail)
    st.html(markup.section("Steps") + _steps(detail))
    show_partitions(detail)
    if not detail.row.state.is_active:
        show_report(detail)
    if can_catch_up(detail):
        catch_up(context, detail)
    with st.expander("Journal"):
        st.html(journal(detail))


def _head(context: Context, detail: RunDetail) -> None:
    row = detail.row
    what = f"Undo of {detail.undo_of}" if detail.undo_of else scenario_words(row)
    st.html(
        markup.heading(what, row.pipeline or "run")
        + markup.pill(row.state.value, RUN_HUES[row.state])
        + markup.facts(
            [
                ("Run", Code(row.id)),
                ("Requested", f"{short_time(_asked_at(detail))} by {row.created_by}"),
                *_decision(detail),
                ("Duration", took(row.started_at, row.ended_at)),
                (
                    "Estimate",
                    truth_words(truth(row, detail.plan.impact, detail.counts, detail.documents)),
                ),
                ("Attempt", row.attempt if row.attempt > 1 else None),
                ("Undo possible", _kept(context, detail)),
                ("Undone by", [Code(r) for r in detail.undone_by]),
            ]
        )
    )


def _kept(context: Context, detail: RunDetail) -> str | None:
    """Return until when an undo finds its snapshots; None where there is nothing to undo."""
    until = kept_until(context, detail.row) if detail.can_undo else None
    return f"until {until:%Y-%m-%d %H:%M} UTC" if until else None


def _asked_at(detail: RunDetail) -> str:
    """Return when somebody asked: of a request that was before the run."""
    return detail.request.asked_at if detail.request else detail.row.created_at


def _decision(detail: RunDetail) -> Iterator[tuple[str, object]]:
    """Show who approved it and why it was requested, if it needed approval."""
    request = detail.request
    if request is None:
        return
    yield "Reason", request.reason
    because = f": {request.decision}" if request.decision else ""
    yield "Approved", f"{short_time(request.decided_at)} by {request.decided_by}{because}"


def _steps(detail: RunDetail) -> str:
    notes = {note.position: note.message for note in detail.progress}
    counts: dict[int, list[StepProgress]] = {}
    charted = {one.position for one in detail.documents if one.name == "partitions"}
    for count in detail.counts:
        # The chart below has each partition.
        if count.position in charted and count.unit.startswith(PARTITION_UNIT):
            continue
        counts.setdefault(count.position, []).append(count)
    lines = "".join(
        _step(step, notes.get(n), counts.get(n, ())) for n, step in enumerate(detail.steps)
    )
    return f'<ol class="hg-steps">{lines}</ol>'


def _step(step: StepView, note: str | None, counts: Sequence[StepProgress]) -> str:
    glyph, hue, style = STATES.get(step.state, ("?", "unknown", "full"))
    below = "".join(f"<small>{markup.rich(text)}</small>" for text in (step.error, note) if text)
    below += "".join(markup.bar(count_words(c), c.done, c.total) for c in counts)
    # An undone step ended when it was undone: that is not how long it took.
    duration = took(step.begun_at, step.ended_at) if step.state != "undone" else None
    at = short_time(step.begun_at).partition(" ")[2] if step.begun_at else None
    words = " · ".join(filter(None, (step.state.replace("_", " "), at, duration)))
    return (
        f'<li class="{style}" {markup.tone(hue)}><i>{glyph}</i>'
        f"<span>{markup.rich(step.describe)}{below}</span><em>{escape(words)}</em></li>"
    )


def _notes(context: Context, detail: RunDetail) -> None:
    row = detail.row
    if row.error and not any(row.error == step.error for step in detail.steps):
        st.html(markup.say(row.error, "refuses"))
    if row.state is RunState.QUEUED:
        since = ago(row.created_at).removesuffix(" ago")
        if has_worker(context, row):
            said = f"Queued for {since}. The worker executes one run after the other."
        else:
            said = f"Waiting for a worker for {since}. To start a worker, run `headgate up`."
        st.html(markup.quiet(said))
    if row.cancel_requested and row.state.is_active:
        st.html(
            markup.say(
                "Cancel requested. The run stops after the current step. If the step waits, the "
                "run stops at once.",
                "unknown",
            )
        )
    if detail.state_after:
        st.html(markup.bullets(detail.state_after))


def _question(context: Context, detail: RunDetail) -> None:
    """Let a person confirm, by name, what the run waits for; the run verifies it then."""
    if detail.waits_for is None:
        return
    with st.container(border=True, key="question"):
        asked = sentence(detail.waits_for.request)
        st.warning(
            f"{asked}. The run waits until you confirm this step. Then Headgate checks the step.",
            icon=":material/front_hand:",
        )
        name = ask_name(RunsKey.NAME)
        if st.button("Confirm step", key=RunsKey.CONFIRM, type="primary", icon=":material/check:",
                     disabled=name is None):  # fmt: skip
            act(lambda: confirm_run(context, detail.row.id, by=name or ""))


def _actions(context: Context, detail: RunDetail) -> None:
    run = detail.row.id
    with st.container(horizontal=True):
        if detail.can_undo and st.button("Undo run …", key=RunsKey.UNDO, icon=":material/undo:"):
            _undo(context, detail)
        if detail.can_resume and st.button(
            "Resume run", key=RunsKey.RESUME, icon=":material/resume:"
        ):
            act(lambda: resume_run(context, run, by=user()))
        if detail.row.state.is_active and st.button(
            "Cancel run",
            key=RunsKey.CANCEL,
            icon=":material/stop:",
            disabled=detail.row.cancel_requested,
        ):
            act(lambda: cancel_run(context, run, by=user()))


def _undo(context: Context, detail: RunDetail) -> None:
    """Open a dialog whose heading says what is undone."""
    row = detail.row
    what = f"undo of run {detail.undo_of}" if detail.undo_of else row.scenario
    of = f" of {plain(row.pipeline)}" if row.pipeline else ""
    st.dialog(f"Undo run {row.id}: {what}{of}", width="large")(_undo_dialog)(context, row.id)


def _undo_dialog(context: Context, run: str) -> None:
    """Show what the undo does, then start it on a click."""
    try:
        with st.spinner("Reading the cluster state"):
            plan = plan_undo(context, run)
    except HeadgateError as error:
        show_problem(error)
        return
    plan_verdict(plan)
    steps, rest = st.columns([3, 2], gap="medium")
    with steps:
        plan_steps(plan)
    with rest:
        plan_consequences(plan)
    if st.button("Start undo", key=RunsKey.UNDO_CONFIRM, type="primary", icon=":material/undo:",
                 disabled=not plan.can_apply):  # fmt: skip
        act(lambda: select(undo_run(context, run, by=user()), Param.RUN))
