"""Choose a scenario: all of them in groups, also those that this engine can't have, with why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.conditions import Answered, Facts, State
from headgate.reprocess.scenario import Answer, Scenario, Support
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.text.numbers import plural
from headgate.ui.reprocess.option_words import on_card
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.keys import ReprocessKey
from headgate.usecases.context import Context
from headgate.usecases.reprocess.scenario_conditions import answered

GROUPS = (
    ("Reprocess", ("from-scratch", "from-point", "rewind", "new-checkpoint")),
    ("Switch to another version", ("offline-upgrade", "online-upgrade", "repartition", "ab")),
    ("Stop, repair, resume", ("pause", "resume", "repair", "skip-records", "dead-letters")),
    (
        "Process a part of the data",
        ("historical-range", "bounded", "incremental", "late-batch", "chain"),
    ),
    ("Clean up", ("decommission",)),
)
OTHERS = "Other scenarios"


def grouped(scenarios: Mapping[str, Scenario]) -> list[tuple[str, list[Scenario]]]:
    """Return the groups that have a scenario; those that are in no group come last."""
    placed = {name for _, names in GROUPS for name in names}
    rest = tuple(name for name in scenarios if name not in placed)
    found = [
        (title, [scenarios[n] for n in names if n in scenarios])
        for title, names in (*GROUPS, (OTHERS, rest))
    ]
    return [(title, members) for title, members in found if members]


_COLUMNS = 2


def chosen_scenario() -> Scenario | None:
    """Return the scenario that the address names; None where it names none that there is."""
    return SCENARIOS.get(st.query_params.get(ReprocessKey.SCENARIO, ""))


def choose_scenario(context: Context, pipeline: Pipeline) -> None:
    """Show every scenario and what it needs; a click puts it into the address."""
    facts = cached_reads.pipeline_facts_of(context, pipeline)
    _not_known(st.query_params.get(ReprocessKey.SCENARIO, ""))
    for title, members in grouped(SCENARIOS):
        st.html(markup.section(title))
        for begin in range(0, len(members), _COLUMNS):
            row = members[begin : begin + _COLUMNS]
            for column, scenario in zip(st.columns(_COLUMNS), row, strict=False):
                with column:
                    _card(scenario, facts)


def _not_known(name: str) -> None:
    if not name:
        return
    said = f"`{name}` isn't a scenario. Choose a scenario:"
    st.html(markup.say(said, "unknown"))


def _card(scenario: Scenario, facts: Facts) -> None:
    engine = facts.pipeline.engine
    support, found = scenario.support[engine], answered(scenario, facts)
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
            if word := _word(support, found):
                st.html(markup.pill(*word))
        st.html(markup.paragraph(scenario.what))
        if support.answer is Answer.REFUSED:
            said = on_card(reason(support, engine), scenario.name)
            st.html(markup.say(said, "removed"))
        if found or support.note:
            needs = ((*_LOOKS[a.state], on_card(a.said, scenario.name)) for a in found)
            note = on_card(support.note, scenario.name)
            st.html(markup.conditions(needs) + (markup.quiet(note) if note else ""))


# Glyph, hue and the word that a screen reader says.
_LOOKS = {
    State.MET: ("✓", "added", "Met"),
    State.MISSING: ("!", "refuses", "Missing"),
    State.UNKNOWN: ("?", "unknown", "Not known yet"),
}


def _word(support: Support, found: Sequence[Answered]) -> tuple[str, str] | None:
    """Return what the pill says: nothing if nothing is known to be missing."""
    if support.answer is Answer.REFUSED:
        return "not for this engine", "removed"
    lacking = sum(a.state is State.MISSING for a in found)
    return (f"{plural(lacking, 'condition')} not met", "refuses") if lacking else None


def reason(support: Support, engine: Engine) -> str:
    """Say why a scenario isn't there for an engine."""
    return f"Not available for {engine.full_name}: {support.why}."


def _choose(name: str | None) -> None:
    if name is None:
        st.query_params.pop(ReprocessKey.SCENARIO, None)
    else:
        st.query_params[ReprocessKey.SCENARIO] = name


def other_scenario() -> None:
    """Offer the link back to the choice."""
    st.button(
        "Change scenario",
        key=ReprocessKey.OTHER,
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=_choose,
        args=(None,),
    )
