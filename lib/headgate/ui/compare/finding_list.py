"""Findings as a list, worst first, and which of them are about a node."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from headgate.rules.core.report import Finding, Outcome, Report, StateEffect
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import select_finding
from headgate.ui.shared.details_panel import plain
from headgate.views.reports.document import accepted_text
from headgate.views.reports.verdict_line import headline
from headgate.views.scene.comparison import ONLY_BEFORE, union_id
from headgate.views.scene.outcome_words import GLYPHS, MIXED_GLYPH
from headgate.views.scene.scene import Sketch

WHOLE = "Whole pipeline"


def node_of(finding: Finding, report: Report, sketch: Sketch) -> str | None:
    """Return the id of the finding's node in the sketch, None where it is about the whole."""
    return next(nodes_of(finding, report, sketch), None)


def nodes_of(finding: Finding, report: Report, sketch: Sketch) -> Iterator[str]:
    """Yield the nodes that a finding is about: two where an old one was not matched to the new."""
    location = finding.location
    new = union_id(report, before=location.before, after=location.after)
    old = ONLY_BEFORE + location.before if location.before else None
    yield from (n for n in dict.fromkeys((new, old)) if n is not None and sketch.node(n))


def findings_list(report: Report, sketch: Sketch) -> None:
    """Show every finding as a button that selects it and its node."""
    # Of what takes over, history that mixes comes first; the rest is in order already.
    for number, finding in sorted(enumerate(report.findings), key=lambda pair: _order(pair[1])):
        node = sketch.node(node_of(finding, report, sketch))
        loud = "loud-" if finding.outcome is Outcome.SILENTLY_WRONG else ""
        row = st.container(horizontal=True, gap="xsmall", key=f"finding-row-{loud}{number}")
        row.html(markup.badge(*sign(finding)), width="content")
        row.button(
            _label(finding, node.label if node else WHOLE),
            key=f"finding-{number}",
            on_click=select_finding,
            args=(number, node.id if node else None),
            width="stretch",
            type="tertiary",
            wrap=True,
        )


def _order(finding: Finding) -> tuple[int, bool]:
    return -finding.outcome, finding.state_effect is not StateEffect.MIXED


def _label(finding: Finding, location: str) -> str:
    lines = [f"**{plain(location)}**", plain(headline(finding).replace("`", ""))]
    if finding.accepted:
        lines.append(f"*{plain(accepted_text(finding.accepted))}*")
    return "  \n".join(lines)


def sign(finding: Finding) -> tuple[str, str]:
    """Return a finding's glyph and the name of its hue: mixed history isn't a plain success."""
    takes_over = finding.outcome <= Outcome.NO_EFFECT
    if takes_over and finding.state_effect is StateEffect.MIXED:
        return MIXED_GLYPH, StateEffect.MIXED.value
    return GLYPHS[finding.outcome], finding.outcome.word


def about(report: Report, sketch: Sketch, node: str | None) -> list[Finding]:
    """Return the findings about a node, worst first."""
    return [f for f in report.findings if node in set(nodes_of(f, report, sketch))]
