"""The wizard: choose a pipeline and a scenario, read the plan, run it, watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headgate.errors import HeadgateError, ScenarioError
from headgate.landscape.landscape import Landscape
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Scenario
from headgate.ui.reprocess.batch_choice import choose_batch
from headgate.ui.reprocess.impact_panel import impact_tiles
from headgate.ui.reprocess.option_words import as_asked
from headgate.ui.reprocess.plan_view import (
    plan_agreement,
    plan_consequences,
    plan_steps,
    plan_verdict,
)
from headgate.ui.reprocess.point_choice import choose_point
from headgate.ui.reprocess.scenario_choice import choose_scenario, chosen_scenario, other_scenario
from headgate.ui.reprocess.scenario_form import ask_options, unanswered
from headgate.ui.runs.run_view import run_view
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.address_state import select, selected
from headgate.ui.shared.choose_pipeline import check_address, pick_pipeline
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import Param, ReprocessKey
from headgate.ui.shared.no_pipelines import no_pipelines
from headgate.ui.shared.page import open_page, title, user
from headgate.ui.shared.person import ask_name
from headgate.usecases.context import Context
from headgate.usecases.reprocess.estimate_cost import with_costs
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.requests.request_run import request_plan
from headgate.usecases.runs.apply_plan import apply_plan
from headgate.views.words.impact import impact_lines


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        show_problem(error)


def _page(context: Context) -> None:
    # A run stays, whatever becomes of its pipeline.
    if not selected(Param.RUN):
        check_address(context, ReprocessKey.PIPELINE)
    head, pipelines = st.columns([3, 2], vertical_alignment="center")
    with head:
        title("Reprocess", "Plan, run, undo")
    with pipelines:
        name = pick_pipeline(context, ReprocessKey.PIPELINE)
    pipeline = context.registry.pipeline(name) if name else None
    if pipeline is None:
        no_pipelines(context)
    elif run := selected(Param.RUN):
        _show_run(context, run)
    elif (scenario := chosen_scenario()) is None:
        choose_scenario(context, pipeline)
    else:
        _wizard(context, pipeline, scenario)


def _wizard(context: Context, pipeline: Pipeline, scenario: Scenario) -> None:
    """Ask what the scenario needs, then show its plan and offer to run it."""
    with st.container(horizontal=True, vertical_alignment="center", key="scenario_head"):
        other_scenario()
        st.html(markup.heading(scenario.what, scenario.title))
        actions = st.container(horizontal=True, horizontal_alignment="right")
    answers = ask_options(scenario, pipeline.engine)
    choose_batch(context, pipeline, scenario)
    choose_point(context, pipeline, scenario)
    asked = (scenario.name, pipeline.name, answers)
    is_open = unanswered(scenario, pipeline.engine, answers)
    plan = None if is_open else _plan(context, asked, anew=_is_refreshed(actions))
    with actions:
        _offer(context, plan)
    if plan is not None:
        _show_plan(plan)


def _is_refreshed(actions: DeltaGenerator) -> bool:
    with actions:
        return st.button("Refresh plan", key=ReprocessKey.AGAIN, icon=":material/refresh:")


def _offer(context: Context, plan: Plan | None) -> None:
    """Offer to request approval or to run the plan; neither if it can't be run."""
    stuck = plan is None or not plan.can_apply
    if (
        st.button(
            "Request approval …",
            key=ReprocessKey.ASK,
            icon=":material/how_to_reg:",
            disabled=stuck,
            help="The plan runs after another person approves it.",
        )
        and plan
    ):
        _request_form(context, plan)
    if st.button("Run plan …", key=ReprocessKey.GO, type="primary", disabled=stuck,
                 icon=":material/play_arrow:") and plan:  # fmt: skip
        _confirm(context, plan)


def _plan(context: Context, asked: tuple[str, str, dict[str, Any]], *, anew: bool) -> Plan | None:
    """Return the plan that is shown, None while it can't be made; only another question makes one.

    An answer that is missing or wrong gets its sentence instead of the plan.
    """
    wanted = (context.registry.path, *asked)
    kept = st.session_state.get(ReprocessKey.PLAN)
    if kept is None or kept[0] != wanted or anew:
        try:
            with st.spinner("Reading the pipeline and the cluster"):
                plan = plan_scenario(context, *asked)
                kept = (wanted, with_costs(context, plan, landscape=_landscape(context)))
        except ScenarioError as error:
            st.html(markup.say(as_asked(str(error), asked[0]), "unknown"))
            return None
        st.session_state[ReprocessKey.PLAN] = kept
    found: Plan = kept[1]
    return found


def _landscape(context: Context) -> Callable[[], Landscape] | None:
    """Return what gives the landscape that the pages have already, None where none has Kafka."""
    if cached_reads.cluster(context).cluster is None:
        return None
    return lambda: cached_reads.landscape(context).landscape


def _show_plan(plan: Plan) -> None:
    plan_verdict(plan)
    impact_tiles(plan)
    steps, rest = st.columns([3, 2], gap="large")
    with steps:
        plan_steps(plan)
    with rest:
        plan_consequences(plan)


@st.dialog("Run this plan?")
def _confirm(context: Context, plan: Plan) -> None:
    st.html(
        markup.facts(
            [
                ("Pipeline", plan.pipeline),
                ("Scenario", plan.scenario),
                ("Steps", [step.describe() for step in plan.steps]),
                *impact_lines(plan),
            ]
        )
    )
    for risk in plan.risks:
        st.html(markup.say(as_asked(risk, plan.scenario), "unknown"))
    agreed = plan_agreement(plan)
    if st.button("Start run", key=ReprocessKey.CONFIRMED, type="primary", disabled=not agreed):
        try:
            select(apply_plan(context, plan, by=user()), Param.RUN)
        except HeadgateError as error:
            show_problem(error)
            return
        st.session_state.pop(ReprocessKey.PLAN, None)
        st.rerun()


@st.dialog("Request approval of this plan?")
def _request_form(context: Context, plan: Plan) -> None:
    name = ask_name(ReprocessKey.NAME)
    reason = st.text_area(
        "Reason", key=ReprocessKey.REASON, placeholder="Reason (shown to the approver)"
    )
    if st.button("Send request", key=ReprocessKey.ASKED, type="primary",
                 disabled=not (name and reason.strip())):  # fmt: skip
        try:
            request = request_plan(context, plan, reason=reason, by=name or "")
        except HeadgateError as error:
            show_problem(error)
            return
        st.switch_page("pages/requests.py", query_params={Param.REQUEST.value: request})


def _show_run(context: Context, run: str) -> None:
    with st.container(border=True):
        run_view(context, run)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            "pages/runs.py", label="Open in Runs", icon=":material/list_alt:",
            query_params={Param.RUN.value: run},
        )  # fmt: skip
        st.button("New plan", icon=":material/add:", type="tertiary", on_click=select,
                  args=(None, Param.RUN))  # fmt: skip


main()
