"""What will make the next upgrade, reset or fail-over hurt, beside the graph of a version."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from headgate.model.progress import BatchProgress
from headgate.model.version import Version
from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport, Severity
from headgate.rules.spark.facts.cluster_offsets import STORED
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.address_state import leave_finding, select_finding, selected
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.keys import Param
from headgate.usecases.check.check_readiness import check_version
from headgate.usecases.context import Context
from headgate.views.reports.document import accepted_text
from headgate.views.reports.readiness import GLYPHS, WORDS, headline, keeps_text
from headgate.views.scene.scene import Sketch

if TYPE_CHECKING:
    from headgate.ui.topology.graph import Chosen

TONES = {Severity.HIGH: "silently_wrong", Severity.MEDIUM: "refuses", Severity.LOW: "no_effect"}
"""Colour of each severity. Each severity also has its own sign."""


def readiness_of(context: Context, chosen: Chosen, newest: BatchProgress | None) -> ReadinessReport:
    """Check the version that is shown, with Kafka as it was read within the last seconds."""
    name = chosen.pipeline if chosen.row is not None else None
    pipeline = context.registry.pipeline(name) if name else None
    configured = pipeline is not None and context.registry.bootstrap_servers
    return check_version(
        _offsets_are_old(chosen.version) if chosen.row is not None else chosen.version,
        context=context,
        pipeline=pipeline,
        cluster=cached_reads.cluster(context).cluster if configured else None,
        evidence=chosen.evidence.evidence,
        newest=newest,
    )


def _offsets_are_old(version: Version) -> Version:
    """Mark the offsets of a stored version: the query may have continued since."""
    if version.progress is None:
        return version
    return replace(version, progress=replace(version.progress, offsets_from=STORED))


def readiness_list(report: ReadinessReport, sketch: Sketch) -> None:
    """Show every finding, worst first, as a button that selects it and its node."""
    st.html(markup.heading("Risks of the next upgrade, reset or failover", headline(report)))
    with st.container(key="findings", gap=None):
        for number, finding in enumerate(report.findings):
            _row(number, finding, sketch)
    if report.warnings:
        with st.expander(f"Not checked ({len(report.warnings)})"):
            st.html(markup.bullets(map(_brief, report.warnings)))


def _row(number: int, finding: ReadinessFinding, sketch: Sketch) -> None:
    node = sketch.node(finding.location)
    location = node.label if node else "Whole pipeline"
    row = st.container(horizontal=True, gap="xsmall", key=f"finding-row-{number}")
    row.html(markup.badge(GLYPHS[finding.severity], TONES[finding.severity]), width="content")
    accepted = " (accepted)" if finding.accepted else ""
    row.button(
        f"**{plain(location)}**{accepted}  \n{plain(finding.what)}",
        key=f"finding-{number}",
        on_click=select_finding,
        args=(number, node.id if node else None),
        help=f"{WORDS[finding.severity]}: {finding.rule}",
        width="stretch",
        type="tertiary",
        wrap=True,
    )


def picked(report: ReadinessReport) -> ReadinessFinding | None:
    """Return the finding that the address names, None where it names none."""
    text = selected(Param.FINDING) or ""
    number = int(text) if text.isdecimal() else -1
    return report.findings[number] if 0 <= number < len(report.findings) else None


def back_to_all() -> None:
    """Show a button that leaves the selected finding or node."""
    st.button(
        "All findings", icon=":material/arrow_back:", type="tertiary", key="all_findings",
        on_click=leave_finding,
    )  # fmt: skip


def readiness_card(finding: ReadinessFinding) -> None:
    """Show everything that is known of a finding."""
    tone = TONES[finding.severity]
    st.html(
        f'<span class="hg-status" {markup.tone(tone)}><i>{GLYPHS[finding.severity]}</i>'
        f"{WORDS[finding.severity]}</span>"
        + markup.say(finding.what, tone)
        + markup.facts(_rows(finding))
    )
    if finding.accepted:
        st.html(markup.quiet(accepted_text(finding.accepted)))


def _rows(finding: ReadinessFinding) -> markup.Rows:
    yield "Why", finding.why
    yield "Question", finding.question
    yield "Remedy", finding.remedy
    yield "State", keeps_text(finding)
    yield "Source", finding.source
    yield "Rule", finding.rule


def cards_about(report: ReadinessReport, node: str) -> None:
    """Show the findings about a node, the selected one first."""
    chosen = picked(report)
    mine = [f for f in report.findings if f.location == node]
    for finding in sorted(mine, key=lambda f: f is not chosen):
        readiness_card(finding)


def _brief(warning: str) -> str:
    short = warning.removeprefix("Not checked: ")
    return short[:1].upper() + short[1:]
