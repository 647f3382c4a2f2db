"""Comparisons that no rule can decide: of two engines, and of plain consumer groups."""

from __future__ import annotations

from headgate.compat.changes import changes
from headgate.compat.match import match_nodes
from headgate.compat.report import Finding, Outcome, Report
from headgate.model.version import Version


def judge_other(before: Version, after: Version) -> Report:
    """Return `unknown` with its question; versions of one engine also get their changes."""
    nodes = match_nodes(before.topology, after.topology)
    finding = (
        _two_engines(before, after) if before.engine is not after.engine else _not_covered(before)
    )
    return Report(
        findings=(finding,),
        changes=changes(before, after, nodes) if before.engine is after.engine else (),
        matches=nodes.pairs if before.engine is after.engine else {},
        judged_for=before.engine.value,
    )


def _two_engines(before: Version, after: Version) -> Finding:
    return Finding(
        rule="EVD003",
        outcome=Outcome.UNKNOWN,
        why="Two engines share no state, so there is nothing to restart.",
        source="the evidence itself",
        before=before.engine.value,
        after=after.engine.value,
        question="Are these two versions of one pipeline?",
        remedy="Compare two versions of one engine.",
    )


def _not_covered(version: Version) -> Finding:
    return Finding(
        rule="EVD004",
        outcome=Outcome.UNKNOWN,
        why="A plain consumer group keeps offsets and nothing else that evidence could show: what it "
        "does with the records is in its code alone.",
        source="the evidence itself",
        before=version.name,
        question="Does the new version read the same topics, and does it need what was read before?",
        remedy="Compare the group's committed offsets with what the new version must process.",
    )
