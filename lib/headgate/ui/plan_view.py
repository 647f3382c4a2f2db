"""A plan as it would be carried out: every value resolved, every risk named."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import streamlit as st

from headgate.plan.plan import UNDO, Plan, dump_plan
from headgate.plan.step import Step
from headgate.ui import markup
from headgate.ui.details import plain
from headgate.ui.markup import Code
from headgate.views.numbers import exact, plural

HUES = {"+": "added", "~": "changed", "-": "refuses"}
PARTITIONS = "partitions"
OPENERS = frozenset(
    (
        "a",
        "an",
        "it",
        "its",
        "no",
        "the",
        "there",
        "topic",
        "group",
        "run",
        "what",
        "where",
        "whoever",
    )
)
"""First words that are no names, so that a sentence may begin with a capital."""
UNBOUND = "when it runs"
"""Shown for values that are decided after the stop step."""


def plan_verdict(plan: Plan) -> None:
    """Show in one line whether the plan can run."""
    stuck = [step for step in plan.steps if not step.undoable]
    if plan.refusals:
        reason = _sentence("; ".join(plan.refusals))
        line = markup.verdict("!", "Refused.", f"{reason} Nothing was changed.", "refuses")
    elif not plan.steps:
        line = markup.verdict("=", "Nothing to do.", "It is already as it should be.", "no_effect")
    elif plan.scenario == UNDO:
        text = f"{plural(len(plan.steps), 'step')} put back what the run changed."
        line = markup.verdict("✓", "Can run.", text, "resumes")
    elif stuck:
        text = f"{plural(len(plan.steps), 'step')}; {len(stuck)} can't be undone."
        line = markup.verdict("?", "Can run.", text, "unknown")
    else:
        text = f"{plural(len(plan.steps), 'step')}, each of them can be undone."
        line = markup.verdict("✓", "Can run.", text, "resumes")
    st.html(line)


def plan_steps(plan: Plan) -> None:
    """Show the steps in order, and below each all its values."""
    if not plan.steps:
        st.html(markup.quiet("There are no steps."))
        return
    st.html(markup.section("Steps") + _steps(plan.steps))
    for number, step in enumerate(plan.steps, start=1):
        if details := step.details():
            with st.expander(f"Step {number}: {plain(step.action.replace('_', ' '))}"):
                st.html(details_html(details))


def _steps(steps: Iterable[Step]) -> str:
    lines = "".join(
        f"<li {markup.tone(HUES.get(step.symbol, 'changed'))}><i>{escape(step.symbol)}</i>"
        f"<span>{markup.rich(step.describe())}</span>"
        f"<em>{'can be undone' if step.undoable else 'no way back'}</em></li>"
        for step in steps
    )
    return f'<ol class="hg-steps">{lines}</ol>'


def details_html(details: Mapping[str, Any]) -> str:
    """Return a step's values; moved offsets as a table by partition."""
    moved = details.get(PARTITIONS)
    rows = [(k.replace("_", " "), _value(v)) for k, v in details.items() if k != PARTITIONS]
    text = markup.facts(rows)
    if isinstance(moved, list) and all(isinstance(m, dict) for m in moved):
        cells = (
            (
                m.get("topic", ""),
                m.get("partition", ""),
                _offset(m.get("from")),
                _offset(m.get("to")),
            )
            for m in moved
        )
        text += markup.table(("Topic", "Partition", "From", "To"), cells, numbers=3)
    elif moved is not None:
        text += markup.facts([(PARTITIONS, _value(moved))])
    return text


def _offset(value: object) -> str:
    return exact(value) if isinstance(value, int) else UNBOUND if value is None else str(value)


def _value(value: Any) -> object:
    if isinstance(value, Mapping | list | tuple):
        return Code(json.dumps(value, ensure_ascii=False, indent=1)) if value else "none"
    return {None: "none", True: "yes", False: "no"}.get(value, Code(value))


def plan_consequences(plan: Plan) -> None:
    """Show refusals, risks, what is read again, preconditions and the command line."""
    if plan.refusals:
        st.html(markup.section("Refused because") + _says(plan.refusals, "refuses"))
    if plan.risks:
        st.html(markup.section("Risks") + _says(plan.risks, "unknown"))
    if impact := _impact(plan.impact):
        st.html(markup.section("Read again") + impact)
    if plan.preconditions:
        st.html(markup.section("Must still hold when it runs"))
        st.html(
            markup.facts(
                (k.replace("_", " ").capitalize(), _precondition(v)) for k, v in _held(plan)
            )
        )
    st.html(markup.section("The same on the command line"))
    st.code(plan.command, language="bash", wrap_lines=True)
    st.download_button(
        "Save the plan", dump_plan(plan), file_name=f"{plan.id}.json", mime="application/json",
        icon=":material/download:", type="tertiary",
    )  # fmt: skip


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


def _impact(impact: Mapping[str, Any]) -> str:
    records = impact.get("records")
    rows = [(name, _number(n)) for name, n in records.items()] if isinstance(records, dict) else []
    if rows and impact.get("total") is not None:
        rows.append(("in all", _number(impact["total"])))
    others = {k: v for k, v in impact.items() if k not in ("records", "total") and v}
    text = markup.table(("Topic", "Records"), rows, numbers=1) if rows else ""
    return text + markup.facts((k.replace("_", " "), _value(v)) for k, v in others.items())


def _number(value: Any) -> str:
    return exact(value) if isinstance(value, int) or value is None else str(value)


def _says(lines: Iterable[str], hue: str) -> str:
    return "".join(markup.say(_sentence(line), hue) for line in lines)


def _sentence(text: str) -> str:
    """Return a message with a capital and a full stop; names keep their spelling."""
    first = text.split(" ", 1)[0]
    capital = text[:1].upper() + text[1:] if first in OPENERS else text
    return capital if capital.endswith((".", "!", "?")) else f"{capital}."
