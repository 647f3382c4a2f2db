"""The panel beside a comparison: findings, or everything about the selected node."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import streamlit as st

from headgate.model.topology import Node
from headgate.rules.catalogue import all_rules
from headgate.rules.core.report import Finding, Report, Upgrade
from headgate.ui.compare.finding_card import finding_card, value_text
from headgate.ui.compare.finding_list import about, findings_list
from headgate.ui.compare.rename_form import rename_form
from headgate.ui.compare.schema_findings import schema_findings
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import leave_finding, select, selected
from headgate.ui.shared.cached_reads import Comparison
from headgate.ui.shared.details_panel import detail_rows, neighbours, node_heading
from headgate.ui.shared.keys import Param
from headgate.ui.shared.node_facts import show_node
from headgate.ui.shared.schema_panel import topic_schemas_of
from headgate.ui.shared.upload import as_uploaded
from headgate.usecases.context import Context
from headgate.views.reports.comparison import comparison_document
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.formats import write_document
from headgate.views.reports.verdict_line import HEADLINES
from headgate.views.scene.comparison import BY_OUTCOME
from headgate.views.scene.scene import MARK_WORDS, STATUS_WORDS, Sketch, SketchNode, Status

ASK_KAFKA = "To check this, run `headgate diff --cluster`."
"""What a report advises on the command line; here, Kafka is asked if it is configured."""
BAD = frozenset(BY_OUTCOME.values())
"""Statuses of nodes with a finding. The card of the finding shows the status."""


@dataclass(frozen=True, slots=True)
class _Page:
    """What the panel shows."""

    context: Context
    pipeline: str | None
    found: Comparison
    sketch: Sketch

    def card(self, finding: Finding) -> None:
        """Show one finding in full."""
        number = self.found.report.findings.index(finding)
        finding_card(self.context, self.pipeline, self.found, finding, key=str(number))


def compare_panel(
    context: Context, pipeline: str | None, found: Comparison, sketch: Sketch
) -> None:
    """Show the selected finding or node; all findings where nothing is selected."""
    page = _Page(context, pipeline, found, sketch)
    number, node = _finding_number(found), sketch.node(selected())
    _head(page, is_all=number is None and node is None)
    if number is None and node is None:
        _all(page)
    elif node is None and number is not None:
        page.card(found.report.findings[number])
    elif node is not None:
        _node(page, node)


def _head(page: _Page, *, is_all: bool) -> None:
    """Show how many findings there are, or the link back to them, and what can be done here."""
    count = len(page.found.report.findings)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="panel-head"):
        if is_all:
            said = {0: "No findings", 1: "1 finding"}.get(count, f"{count} findings, worst first")
            st.html(markup.section(said), width="stretch")
        else:
            st.button(
                "All findings", icon=":material/arrow_back:", type="tertiary", key="all_findings",
                on_click=leave_finding,
            )  # fmt: skip
            st.space("stretch")
        rename_form(page.found)
        report_exports(page.context, page.found.report, page.pipeline or "query")


def _finding_number(found: Comparison) -> int | None:
    text = selected(Param.FINDING) or ""
    number = int(text) if text.isdecimal() else -1
    return number if 0 <= number < len(found.report.findings) else None


def _all(page: _Page) -> None:
    report = page.found.report
    if report.findings:
        with st.container(key="findings", gap=None):
            findings_list(report, page.sketch)
    elif report.changes:
        st.html(markup.quiet("No rule reports a problem with these changes."))
    else:
        st.html(markup.quiet("Both versions are the same for the engine."))
    if chips := markup.chips(_in_the_graph(page.sketch)):
        st.html(markup.section("Changes in the graph") + chips)
    if report.upgrade:
        _upgrade(report.upgrade)
    schema_findings(page.context, page.found.after)
    _not_checked(page.found)


def _in_the_graph(sketch: Sketch) -> Iterator[tuple[str, str, str]]:
    """Yield how many nodes changed, came, went and moved."""
    counts = Counter(n.status for n in sketch.nodes)
    for status in (Status.CHANGED, Status.ADDED, Status.REMOVED):
        if counts[status]:
            glyph, word = STATUS_WORDS[status]
            yield glyph, status, f"{counts[status]} {word.lower()}"
    marks = Counter(m for n in sketch.nodes for m in n.marks)
    for mark, (glyph, word) in MARK_WORDS.items():
        if marks[mark]:
            yield glyph, mark, f"{marks[mark]} {word.lower()}"


def _upgrade(upgrade: Upgrade) -> None:
    """Show the way of an upgrade with its steps, and why no easier one will do."""
    st.html(
        markup.section("Upgrade steps")
        + markup.paragraph(f"{HEADLINES[upgrade.way]}.")
        + markup.numbered(upgrade.steps)
        + (markup.quiet(upgrade.why) if upgrade.why else "")
    )


def _not_checked(found: Comparison) -> None:
    """Show what the verdict rests on no evidence for: nobody takes silence for an answer."""
    why = found.not_asked
    lines = [as_uploaded(w).replace(ASK_KAFKA, why or "").rstrip() for w in found.report.warnings]
    if why and not any(why in line for line in lines):
        lines.append(f"Headgate did not read the Kafka cluster state: {why}")
    if lines:
        st.html(markup.section("Not checked") + markup.bullets(lines))


def _node(page: _Page, node: SketchNode) -> None:
    found = page.found
    node_heading(page.sketch, node.id)
    findings = about(found.report, page.sketch, node.id)
    if node.status not in BAD:
        st.html(markup.status(node.status))
    for finding in findings:
        page.card(finding)
    was = found.before.topology.node(node.before or "")
    now = found.after.topology.node(node.after or "")
    _changes(page, node, was, now, findings)
    if now:
        st.html(markup.section("In the new version" if was else "Only in the new version"))
        show_node(found.after, now)
        topic_schemas_of(page.context, found.after, now)
    elif was:
        st.html(markup.section("Only in the old version"))
        show_node(found.before, was)
    neighbours(page.sketch, node.id, pick_node)


def _changes(
    page: _Page, node: SketchNode, was: Node | None, now: Node | None, findings: list[Finding]
) -> None:
    """Show what differs, less what the findings' own values show already."""
    changes = [
        c.what.replace(" -> ", " → ")
        for c in page.found.report.changes
        if (c.after and c.after == node.after) or (c.before and c.before == node.before)
    ]
    if changes:
        st.html(markup.section("Changes") + markup.bullets(dict.fromkeys(changes)))
    shown = {(value_text(f.before), value_text(f.after)) for f in findings}
    if was and now and (text := _differences(was, now, shown)):
        st.html(text)


def pick_node(node: str) -> None:
    """Select a node, and no finding in particular."""
    select(None, Param.FINDING)
    select(node)


def _differences(was: Node, now: Node, shown: Collection[tuple[str, str]]) -> str:
    """Return the details that differ, before and after, without the pairs of `shown`."""
    old, new = dict(detail_rows(was.details)), dict(detail_rows(now.details))
    names = [n for n in dict.fromkeys((*old, *new)) if old.get(n) != new.get(n)]
    pairs = [(n, _text(old.get(n)), _text(new.get(n))) for n in names]
    return "".join(markup.change(n, a, b) for n, a, b in pairs if (a, b) not in shown)


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


TITLES: Mapping[str, tuple[str, str, str]] = {
    "markdown": ("Markdown, for a pull request", "md", "text/markdown"),
    "json": ("JSON, for programs", "json", "application/json"),
    "sarif": ("SARIF, for code scanning", "sarif", "application/sarif+json"),
}
"""Title, file extension and media type of each format."""


def report_exports(context: Context, report: Report, name: str) -> None:
    """Show the menu; each format is written on its click, in the click's own request."""
    with st.popover("Report", help="Download this report", key="report_menu"):
        for form, (title, ending, media) in TITLES.items():
            st.download_button(
                title,
                data=_writer(context, report, form),
                file_name=f"{name}-comparison.{ending}",
                mime=media,
                key=f"report_{form}",
                on_click="ignore",
                type="tertiary",
                width="stretch",
            )


def _writer(context: Context, report: Report, form: str) -> Callable[[], str]:
    return lambda: write_report(report, form, context.registry.rules_url)


def write_report(report: Report, form: str, rules_url: str | None = None) -> str:
    """Return the report in one of the forms of `TITLES`, as `headgate diff` writes it."""
    if form == "json":
        return json.dumps(report_json(report), indent=2, ensure_ascii=False)
    reasons = {rule.code: rule.why for rule in all_rules()}
    return write_document(comparison_document(report, reasons=reasons), form, rules_url=rules_url)
