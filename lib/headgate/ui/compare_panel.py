"""The panel beside a comparison: findings, or everything about the selected node."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from headgate.model.topology import Node
from headgate.ui import markup
from headgate.ui.data import Comparison
from headgate.ui.details import detail_rows, neighbours, node_heading
from headgate.ui.findings import about, finding_card, findings_list
from headgate.ui.keys import Param
from headgate.ui.node_facts import show_node
from headgate.ui.state import select, selected
from headgate.views.scene import Sketch, SketchNode


def compare_panel(found: Comparison, sketch: Sketch) -> None:
    """Show the selected finding or node; all findings where nothing is selected."""
    number, node = _finding_number(found), sketch.node(selected())
    if number is None and node is None:
        _all(found, sketch)
        return
    st.button(
        "All findings", icon=":material/arrow_back:", type="tertiary", key="all_findings",
        on_click=_back,
    )  # fmt: skip
    if node is None and number is not None:
        finding_card(found.report.findings[number])
    elif node is not None:
        _node(found, sketch, node)


def _back() -> None:
    select(None)
    select(None, Param.FINDING)


def _finding_number(found: Comparison) -> int | None:
    text = selected(Param.FINDING) or ""
    number = int(text) if text.isdigit() else -1
    return number if 0 <= number < len(found.report.findings) else None


def _all(found: Comparison, sketch: Sketch) -> None:
    report = found.report
    st.html(markup.counts(Counter(n.status for n in sketch.nodes)))
    if report.findings:
        with st.container(key="findings", gap=None):
            findings_list(report, sketch)
    elif report.changes:
        st.html(markup.quiet("No rule has anything to say about these changes."))
    else:
        st.html(markup.quiet("Nothing changed that the engine can see."))
    if report.warnings:
        st.html(markup.section("Remarks") + markup.bullets(report.warnings))
    if report.judged_for:
        st.html(markup.quiet(f"Judged for {report.judged_for}."))
    if found.not_asked:
        st.html(markup.say(f"Kafka as it is now was not asked. {found.not_asked}", "unknown"))


def _node(found: Comparison, sketch: Sketch, node: SketchNode) -> None:
    node_heading(sketch, node.id)
    findings = about(found.report, sketch, node.id)
    if not findings:
        st.html(markup.status(node.status))
    for finding in findings:
        finding_card(finding)
    was = found.before.topology.node(node.before or "")
    now = found.after.topology.node(node.after or "")
    changes = [
        c.what.replace(" -> ", " → ")
        for c in found.report.changes
        if (c.after and c.after == node.after) or (c.before and c.before == node.before)
    ]
    if changes:
        st.html(markup.section("Changes") + markup.bullets(dict.fromkeys(changes)))
    if was and now:
        st.html(_differences(was, now))
    if now:
        st.html(markup.section("After"))
        show_node(found.after, now)
    elif was:
        st.html(markup.section("Before"))
        show_node(found.before, was)
    neighbours(sketch, node.id, pick_node)


def pick_node(node: str) -> None:
    """Select a node, and no finding in particular."""
    select(None, Param.FINDING)
    select(node)


def _differences(was: Node, now: Node) -> str:
    """Return the details that differ, before and after."""
    old, new = dict(detail_rows(was.details)), dict(detail_rows(now.details))
    names = [n for n in dict.fromkeys((*old, *new)) if old.get(n) != new.get(n)]
    return "".join(markup.change(n, _text(old.get(n)), _text(new.get(n))) for n in names)


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
