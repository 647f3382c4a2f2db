"""What people call the nodes that a report is about."""

from __future__ import annotations

from headgate.model.topology import Node, Topology
from headgate.model.version import Version
from headgate.rules.core.report import Labels, Report


def labels_of(report: Report, before: Version, after: Version) -> Labels:
    """Return the labels of the nodes that findings and changes name, of each version."""
    old = {w.where.before for w in report.findings} | {c.before for c in report.changes}
    new = {w.where.after for w in report.findings} | {c.after for c in report.changes}
    return Labels(_labels(before.topology, old), _labels(after.topology, new))


def _labels(topology: Topology, ids: set[str | None]) -> dict[str, str]:
    return {n.id: _label(n) for n in topology.nodes if n.id in ids}


def _label(node: Node) -> str:
    """Return the operator and what it does; the word once where the label says no more."""
    word = node.operator.replace("_", " ")
    known = node.label.replace("_", " ").lower().startswith(word)
    return node.label if known else f"{word} {node.label}"
