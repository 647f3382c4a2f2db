"""What changed from version to version, a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headgate.rules.core.report import Change, ChangeKind, Report

SIGNS = {
    ChangeKind.ADDED: "+",
    ChangeKind.REMOVED: "−",
    ChangeKind.CHANGED: "~",
    ChangeKind.MOVED: "↕",
}
SHOWN = 2
"""Maximum number of changes that a line names; the others are counted."""


def change_line(report: Report) -> str:
    """Return what changed in one line: `sum by city: keys k -> k, d; and 2 added`.

    What changed or vanished comes first: what is new breaks less.
    """
    if not report.changes:
        said = [f.why.partition(". ")[0].rstrip(".") for f in report.findings]
        return "; ".join(said[:SHOWN]) or "same graph, but settings or other details differ"
    ordered = sorted(report.changes, key=lambda c: _ORDER.index(c.kind))
    named = [f"{SIGNS[c.kind]} {c.what.replace(' -> ', ' → ')}" for c in _distinct(ordered)]
    rest = Counter(c.kind for c in ordered[SHOWN:] if c.what not in "".join(named[:SHOWN]))
    words = ", ".join(f"{n} {k.value}" for k, n in rest.items())
    return "; ".join(named[:SHOWN]) + (f"; and {words}" if words else "")


_ORDER = (ChangeKind.CHANGED, ChangeKind.REMOVED, ChangeKind.ADDED, ChangeKind.MOVED)


def _distinct(changes: Sequence[Change]) -> list[Change]:
    return list({(c.kind, c.what): c for c in changes}.values())
