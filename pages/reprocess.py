"""The wizard: choose a pipeline and a scenario, read the plan, run it, watch it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from headgate.errors import HeadgateError, ScenarioError
from headgate.plan.build import SCENARIOS
from headgate.plan.plan import Plan
from headgate.ui import markup
from headgate.ui.ask import choose
from headgate.ui.keys import Param, ReprocessKey
from headgate.ui.page import open_page, title, user
from headgate.ui.person import ask_name
from headgate.ui.pick import pick_pipeline
from headgate.ui.plan_view import plan_consequences, plan_steps, plan_verdict
from headgate.ui.problem import show_problem
from headgate.ui.run_view import run_view
from headgate.ui.scenario_form import ask_options, unanswered
from headgate.ui.state import select, selected
from headgate.usecases.apply_plan import apply_plan
from headgate.usecases.ask_for_run import ask_for_plan
from headgate.usecases.context import Context
from headgate.usecases.plan_scenario import plan_scenario


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        show_problem(error)


def _page(context: Context) -> None:
    head, pipelines, scenarios, again, go = st.columns(
        [2.2, 1.8, 3, 1.1, 0.9], vertical_alignment="center"
    )
    with head:
        title("Reprocess", "Plan, run, undo")
    with pipelines:
        pipeline = pick_pipeline(context, ReprocessKey.PIPELINE)
    if pipeline is None:
        st.html(
            markup.empty(
                "No pipeline is registered",
                "Declare the pipelines that Headgate may reset in headgate.toml.",
            )
        )
        return
    with scenarios:
        scenario = _pick_scenario()
    if run := selected(Param.RUN):
        _show_run(context, run)
        return
    with again:
        anew = st.button("Plan again", key=ReprocessKey.AGAIN, icon=":material/refresh:")
    declared = context.registry.pipeline(pipeline)
    answers = ask_options(SCENARIOS[scenario], declared.engine) if declared else {}
    plan = None
    if declared is None or not unanswered(SCENARIOS[scenario], declared.engine, answers):
        plan = _plan(context, (scenario, pipeline, answers), anew)
    with go:
        if st.button("Run …", key=ReprocessKey.GO, type="primary", width="stretch",
                     icon=":material/play_arrow:",
                     disabled=plan is None or not plan.appliable) and plan:  # fmt: skip
            _confirm(context, plan)
    if plan is not None:
        _show_plan(plan)
        if plan.appliable and st.button(
            "Ask for it …",
            key=ReprocessKey.ASK,
            icon=":material/how_to_reg:",
            help="Somebody else approves it, then it runs.",
        ):
            _ask_for(context, plan)


def _pick_scenario() -> str:
    names = list(SCENARIOS)
    return choose(
        "Scenario",
        names,
        key=ReprocessKey.SCENARIO,
        usual=names[0],
        shown=lambda name: f"{SCENARIOS[name].title}: {SCENARIOS[name].what}",
    )


def _plan(context: Context, asked: tuple[str, str, dict[str, Any]], anew: bool) -> Plan | None:
    """Return the plan that is shown, None while it can't be made; only another question makes one.

    An answer that is missing or wrong gets its sentence in the plan's place.
    """
    wanted = (context.registry.path, *asked)
    kept = st.session_state.get(ReprocessKey.PLAN)
    if kept is None or kept[0] != wanted or anew:
        try:
            with st.spinner("Looking at the pipeline and the cluster"):
                kept = (wanted, plan_scenario(context, *asked))
        except ScenarioError as error:
            st.html(markup.say(str(error), "unknown"))
            return None
        st.session_state[ReprocessKey.PLAN] = kept
    plan: Plan = kept[1]
    return plan


def _show_plan(plan: Plan) -> None:
    plan_verdict(plan)
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
            ]
        )
    )
    for risk in plan.risks:
        st.html(markup.say(risk, "unknown"))
    agreed = st.checkbox(
        "I have read the plan and its risks" if plan.risks else "I have read the plan",
        key=ReprocessKey.CONFIRM,
    )
    if st.button("Run it", key=ReprocessKey.CONFIRMED, type="primary", disabled=not agreed):
        try:
            select(apply_plan(context, plan, by=user()), Param.RUN)
        except HeadgateError as error:
            show_problem(error)
            return
        st.session_state.pop(ReprocessKey.PLAN, None)
        st.rerun()


@st.dialog("Ask for this plan?")
def _ask_for(context: Context, plan: Plan) -> None:
    name = ask_name(ReprocessKey.NAME)
    reason = st.text_area(
        "Reason", key=ReprocessKey.REASON, placeholder="Who decides wants to know why"
    )
    if st.button("Ask", key=ReprocessKey.ASKED, type="primary",
                 disabled=not (name and reason.strip())):  # fmt: skip
        try:
            request = ask_for_plan(context, plan, reason=reason, by=name or "")
        except HeadgateError as error:
            show_problem(error)
            return
        st.switch_page("pages/requests.py", query_params={Param.REQUEST.value: request})


def _show_run(context: Context, run: str) -> None:
    with st.container(border=True):
        run_view(context, run)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            "pages/runs.py", label="Open it under Runs", icon=":material/list_alt:",
            query_params={Param.RUN.value: run},
        )  # fmt: skip
        st.button("Plan another", icon=":material/add:", type="tertiary", on_click=select,
                  args=(None, Param.RUN))  # fmt: skip


main()
