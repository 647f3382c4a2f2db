"""Findings as a list, worst first, and one of them in full."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from headgate.compat.report import Finding, Outcome, Report, Rollback, StateEffect
from headgate.ui import markup
from headgate.ui.details import plain
from headgate.ui.keys import Param
from headgate.ui.markup import Code
from headgate.ui.state import select
from headgate.views.scene import Sketch
from headgate.views.scene_compare import union_id
from headgate.views.verdict import GLYPHS, WORDS, headline

EFFECTS = {
    StateEffect.EXACT: "kept exactly",
    StateEffect.MIXED: "kept; results mix old and new meaning",
    StateEffect.REINTERPRETED: "read under another meaning",
    StateEffect.ORPHANED: "left behind, never read again",
    StateEffect.LOST: "lost",
    StateEffect.NONE: None,
}
ROLLBACKS = {
    Rollback.SAFE: "the old version starts again",
    Rollback.REPAIRABLE: "the old version starts after the remedy",
    Rollback.LOST: "the old version will not start again",
    Rollback.UNKNOWN: "not known",
}


def place(finding: Finding, report: Report, sketch: Sketch) -> str | None:
    """Return the id of the finding's node in the sketch, None where it is about the whole."""
    where = finding.where
    node = union_id(report, before=where.before, after=where.after)
    return node if sketch.node(node) else None


def findings_list(report: Report, sketch: Sketch) -> None:
    """Show every finding as a button that selects it and its node."""
    for number, finding in enumerate(report.findings):
        node = sketch.node(place(finding, report, sketch))
        where = node.label if node else "Whole pipeline"
        row = st.container(horizontal=True, gap="xsmall", key=f"finding-row-{number}")
        row.html(markup.badge(GLYPHS[finding.outcome], finding.outcome.word), width="content")
        row.button(
            f"**{plain(where)}**  \n{plain(headline(finding).replace('`', ''))}",
            key=f"finding-{number}",
            on_click=pick_finding,
            args=(number, node.id if node else None),
            width="stretch",
            type="tertiary",
            wrap=True,
        )


def pick_finding(number: int, node: str | None) -> None:
    """Select a finding and the node that it is about."""
    select(str(number), Param.FINDING)
    select(node)


def about(report: Report, sketch: Sketch, node: str | None) -> list[Finding]:
    """Return the findings about a node, worst first."""
    return [f for f in report.findings if place(f, report, sketch) == node]


def finding_card(finding: Finding) -> None:
    """Show everything that is known of a finding."""
    outcome = finding.outcome
    st.html(
        f'<span class="hg-status" {markup.tone(outcome.word)}><i>{GLYPHS[outcome]}</i>'
        f"{WORDS[outcome]}</span>"
        + markup.change(finding.rule, value_text(finding.before), value_text(finding.after))
        + markup.say(finding.why, outcome.word)
        + markup.facts(_rows(finding))
    )
    if finding.accepted:
        until = f" until {finding.accepted.until}" if finding.accepted.until else ""
        st.html(markup.quiet(f"Accepted{until}: {finding.accepted.reason}"))


def _rows(finding: Finding) -> markup.Rows:
    yield "To decide", finding.question
    yield "Remedy", finding.remedy
    yield "Error", Code(finding.error_class) if finding.error_class else None
    yield "State", EFFECTS[finding.state_effect] if finding.state_effect else None
    if finding.outcome is not Outcome.RESUMES:
        yield "Roll back", ROLLBACKS[finding.rollback]
    yield "Scenario", finding.scenario
    yield "Known from", finding.source


def value_text(value: Any) -> str:
    """Return a plain value as people read it: lists line by line."""
    if value is None or value == "":
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(value_text(v) for v in value)
    if isinstance(value, dict):
        return "\n".join(f"{k}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items())
    return str(value)
