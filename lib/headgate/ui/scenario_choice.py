"""Choose a scenario: all of them in groups, also those that this engine can't have, with why."""

from __future__ import annotations

import streamlit as st

from headgate.model.registry import Pipeline
from headgate.model.version import Engine
from headgate.plan.build import PLANNED, SCENARIOS
from headgate.plan.scenario import Answer, Scenario, Support
from headgate.ui import markup
from headgate.ui.keys import ReprocessKey
from headgate.views.scenario_groups import grouped

ENGINES = {
    Engine.SPARK: "Spark Structured Streaming",
    Engine.KAFKA_STREAMS: "Kafka Streams",
    Engine.CONSUMER_GROUP: "plain consumer groups",
}
_COLUMNS = 2


def chosen_scenario() -> Scenario | None:
    """Return the scenario that the address names; None where it names none that there is."""
    return SCENARIOS.get(st.query_params.get(ReprocessKey.SCENARIO, ""))


def choose_scenario(pipeline: Pipeline) -> None:
    """Show every scenario; a click puts it into the address."""
    _not_known(st.query_params.get(ReprocessKey.SCENARIO, ""))
    for title, members in grouped(SCENARIOS):
        st.html(markup.section(title))
        for begin in range(0, len(members), _COLUMNS):
            row = members[begin : begin + _COLUMNS]
            for column, scenario in zip(st.columns(_COLUMNS), row, strict=False):
                with column:
                    _card(scenario, pipeline.engine)
    if PLANNED:
        names = ", ".join(f"`{name}`" for name in PLANNED)
        st.html(markup.quiet(f"Not in this release: {names}."))


def _not_known(name: str) -> None:
    if not name:
        return
    known = name in PLANNED
    why = "is not built in this release yet" if known else "is no scenario of this release"
    st.html(markup.say(f"`{name}` {why}. Choose one of these:", "unknown"))


def _card(scenario: Scenario, engine: Engine) -> None:
    support = scenario.support[engine]
    with st.container(border=True, key=f"scenario_card_{scenario.name}", height="stretch"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                scenario.title,
                key=f"{ReprocessKey.CHOOSE}_{scenario.name}",
                disabled=support.answer is Answer.REFUSED,
                on_click=_choose,
                args=(scenario.name,),
                icon=":material/arrow_forward:",
            )
            if support.answer is not Answer.SUPPORTED:
                st.html(markup.pill(*_word(support)))
        st.html(markup.paragraph(scenario.what))
        if support.answer is not Answer.SUPPORTED:
            st.html(markup.say(reason(support, engine), _word(support)[1]))


def _word(support: Support) -> tuple[str, str]:
    if support.answer is Answer.NEEDS:
        return "needs something", "unknown"
    return "not for this engine", "removed"


def reason(support: Support, engine: Engine) -> str:
    """Say why a scenario is not simply there for an engine."""
    if support.answer is Answer.NEEDS:
        return f"Needs {support.why}."
    return f"Refused for {ENGINES[engine]}: {support.why}."


def _choose(name: str | None) -> None:
    if name is None:
        st.query_params.pop(ReprocessKey.SCENARIO, None)
    else:
        st.query_params[ReprocessKey.SCENARIO] = name


def other_scenario() -> None:
    """Offer the way back to the choice."""
    st.button(
        "Other scenario",
        key=ReprocessKey.OTHER,
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=_choose,
        args=(None,),
    )
