"""A plan as it would be carried out: every value resolved, every risk named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from headgate.reprocess.plan import UNDO, Plan, dump_plan
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.reprocess.steps.base.step import Step
from headgate.text.numbers import plural
from headgate.ui.reprocess.impact_panel import impact_details
from headgate.ui.reprocess.offsets_table import offsets_table
from headgate.ui.reprocess.option_words import CHAIN, as_asked
from headgate.ui.reprocess.scenario_form import linked_answers
from headgate.ui.shared import markup
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.keys import ReprocessKey
from headgate.ui.shared.markup import Code
from headgate.views.reports.plan_outputs import output_lines
from headgate.views.words.impact import no_undo_words

HUES = {"+": "added", "~": "changed", "-": "refuses"}
MOVES = frozenset({"offsets", "moves"})
"""Fields of steps with a row for each partition."""
SENTENCES = 6
"""Risks and blockers that are shown without a click."""
_WORD = re.compile(r"[a-z]+[ ,]")
LONGEST = 1_500
"""Maximum length of a shown value; the saved plan has the whole value."""
OPENERS = frozenset((
    "a", "after", "all", "an", "at", "between", "both", "each", "for", "if", "in", "it",
    "its", "no", "on", "once", "other", "some", "the", "there", "these", "this", "topic", "group",
    "run", "to", "until", "up", "what", "where", "whoever", "with",
))  # fmt: skip
"""First words of a sentence that get a capital letter; other first words can be names."""


def plan_verdict(plan: Plan) -> None:
    """Show in one line whether the plan can run."""
    stuck = [step for step in plan.steps if not step.undoable]
    stays = " An undo doesn't remove written results." if plan.outputs.remains else ""
    if plan.blockers:
        more = len(plan.blockers) - 1
        reason = _sentence(as_asked(plan.blockers[0], plan.scenario)) + (
            f" And {plural(more, 'more blocker')}." if more else ""
        )
        line = markup.verdict("!", "Blocked.", f"{reason} Nothing was changed.", "refuses")
    elif not plan.steps:
        line = markup.verdict(
            "=", "Nothing to do.", "The pipeline is already in the requested state.", "no_effect"
        )
    elif plan.scenario == UNDO:
        text = f"The undo has {plural(len(plan.steps), 'step')}.{stays}"
        line = markup.verdict("✓", "Can run.", text, "resumes")
    elif stuck:
        undone = f"No undo is possible for {plural(len(stuck), 'step')}."
        text = f"{plural(len(plan.steps), 'step')}. {undone}{stays}"
        line = markup.verdict("?", "Can run.", text, "unknown")
    else:
        text = f"{plural(len(plan.steps), 'step')}. Every step can be undone.{stays}"
        line = markup.verdict("✓", "Can run.", text, "resumes")
    st.html(line)


def plan_agreement(plan: Plan) -> bool:
    """Name the steps that can't be undone, and return whether the user agrees to the run."""
    if said := no_undo_words(plan):
        st.html(markup.say(said, "refuses"))
    return st.checkbox(
        "I have read the plan and its risks" if plan.risks else "I have read the plan",
        key=ReprocessKey.CONFIRM,
    )


def plan_steps(plan: Plan, *, key: str = "plan") -> None:
    """Show the steps in order, where every partition goes, and all values of each step.

    `key` is what else on the page shows a plan has not.
    """
    if not plan.steps:
        st.html(markup.quiet("No steps."))
        return
    st.html(markup.section("Steps") + _steps(plan.steps, is_undo=plan.scenario == UNDO))
    offsets_table(plan, key=key)
    for number, step in enumerate(plan.steps, start=1):
        if details := step.details():
            with st.expander(f"Step {number}: {plain(step.action.replace('_', ' '))}"):
                st.html(details_html(details))


def _steps(steps: Iterable[Step], *, is_undo: bool) -> str:
    lines = "".join(
        f"<li {markup.tone(HUES.get(step.symbol, 'changed'))}><i>{escape(step.symbol)}</i>"
        f"<span>{markup.rich(step.describe())}</span>"
        f"<em>{'' if is_undo else _rollback(step)}</em></li>"
        for step in steps
    )
    return f'<ol class="hg-steps">{lines}</ol>'


def _rollback(step: Step) -> str:
    return "can be undone" if step.undoable else "can't be undone"


def details_html(details: Mapping[str, Any]) -> str:
    """Return a step's values; where partitions go is a table of its own, the rest is cut."""
    rows = [(k.replace("_", " "), _value(v)) for k, v in details.items() if k not in MOVES]
    return markup.facts(rows)


def _value(value: Any) -> object:
    if isinstance(value, Mapping | list | tuple):
        return Code(_short(json.dumps(value, ensure_ascii=False, indent=1))) if value else "none"
    return {None: "none", True: "yes", False: "no"}.get(value, Code(value))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def plan_consequences(plan: Plan) -> None:
    """Show blockers, risks, what is reprocessed, preconditions and the command line."""
    if plan.blockers:
        reasons = [as_asked(reason, plan.scenario) for reason in plan.blockers]
        _sentences("Blockers", reasons, "refuses")
    if plan.risks:
        said = [as_asked(_opened(risk, plan), plan.scenario) for risk in plan.risks]
        _sentences("Risks", said, "unknown")
        _chain_link(plan)
    for name, sentences in _outputs(plan).items():
        _sentences(name, sentences, "unknown")
    impact_details(plan)
    if plan.preconditions:
        st.html(markup.section("Preconditions"))
        st.html(
            markup.facts(
                (k.replace("_", " ").capitalize(), _precondition(v)) for k, v in _held(plan)
            )
        )
    st.html(markup.section("Command"))
    st.code(plan.command, language="bash", wrap_lines=True)
    st.download_button(
        "Download plan", dump_plan(plan), file_name=f"{plan.id}.json", mime="application/json",
        icon=":material/download:", type="tertiary",
    )  # fmt: skip


def _chain_link(plan: Plan) -> None:
    """Link to the form of a chain, with its target time, if a risk offers a chain."""
    found = next(filter(None, map(CHAIN.search, plan.risks)), None)
    if found is None or plan.pipeline is None:
        return
    # TIME stands for a time that only the topic's records tell.
    value = found["value"] if found["value"] != "TIME" else None
    st.page_link(
        "pages/reprocess.py",
        label="Plan a chain",
        icon=":material/link:",
        help="Opens the form of the scenario Chain for this pipeline. Nothing changes until you "
        "run the plan.",
        query_params={
            ReprocessKey.PIPELINE.value: plan.pipeline,
            ReprocessKey.SCENARIO.value: "chain",
            **linked_answers("chain", found["option"], value),
        },
    )


def _outputs(plan: Plan) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, sentence in output_lines(plan):
        found.setdefault(name, []).append(as_asked(sentence, plan.scenario))
    return found


def _held(plan: Plan) -> list[tuple[str, Any]]:
    return [(k, v) for k, v in plan.preconditions.items() if v not in (None, {}, [], "")]


def _precondition(value: Any) -> object:
    if isinstance(value, Mapping):
        return [Code(f"{k}: {_flat(v)}") for k, v in value.items() if v is not None]
    return Code(_flat(value))


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_flat(v)}" for k, v in value.items())
    return ", ".join(map(_flat, value)) if isinstance(value, list | tuple) else str(value)


def _sentences(title: str, lines: Sequence[str], hue: str) -> None:
    """Show the first sentences; a plan over many partitions may have one for each."""
    st.html(markup.section(title) + _says(lines[:SENTENCES], hue))
    if rest := lines[SENTENCES:]:
        with st.expander(f"{len(rest)} more"):
            st.html(_says(rest, hue))


def _says(lines: Iterable[str], hue: str) -> str:
    return "".join(markup.say(_sentence(line), hue) for line in lines)


def _opened(risk: str, plan: Plan) -> str:
    """Return a risk with a capital, unless it begins with a name."""
    scenario = SCENARIOS.get(plan.scenario)
    declared = scenario.risks() if scenario else ()
    is_word = any(_WORD.match(r.text) and r.is_of(risk) for r in declared)
    return risk[:1].upper() + risk[1:] if is_word else risk


def _sentence(text: str) -> str:
    """Return a message with a capital and a full stop; names keep their spelling."""
    first = text.split(" ", 1)[0]
    capital = text[:1].upper() + text[1:] if first in OPENERS else text
    return capital if capital.endswith((".", "!", "?")) else f"{capital}."
