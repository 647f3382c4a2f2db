"""The wizard: choose a pipeline and a scenario, read the plan, run it, watch it."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.plan.build import SCENARIOS
from headgate.plan.plan import Plan
from headgate.ui import markup
from headgate.ui.ask import choose
from headgate.ui.keys import Param, ReprocessKey
from headgate.ui.page import open_page, title, user
from headgate.ui.pick import pick_pipeline
from headgate.ui.plan_view import plan_consequences, plan_steps, plan_verdict
from headgate.ui.problem import show_problem
from headgate.ui.run_view import run_view
from headgate.ui.state import select, selected
from headgate.usecases.apply_plan import apply_plan
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
    plan = _plan(context, scenario, pipeline, anew)
    with go:
        if st.button("Run …", key=ReprocessKey.GO, type="primary", width="stretch",
                     icon=":material/play_arrow:", disabled=not plan.appliable):  # fmt: skip
            _confirm(context, plan)
    _show_plan(plan)


def _pick_scenario() -> str:
    names = list(SCENARIOS)
    return choose(
        "Scenario",
        names,
        key=ReprocessKey.SCENARIO,
        usual=names[0],
        shown=lambda name: f"{SCENARIOS[name].title}: {SCENARIOS[name].what}",
    )


def _plan(context: Context, scenario: str, pipeline: str, anew: bool) -> Plan:
    """Return the plan that is shown; it is made again only when it is asked for."""
    wanted = (context.registry.path, scenario, pipeline)
    kept = st.session_state.get(ReprocessKey.PLAN)
    if kept is None or kept[0] != wanted or anew:
        with st.spinner("Looking at the pipeline and the cluster"):
            kept = (wanted, plan_scenario(context, scenario, pipeline, {}))
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
