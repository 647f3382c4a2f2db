"""Comparisons that no rule covers yet: the answer is a question, or nothing differs."""

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
        rule="KST000",
        outcome=Outcome.UNKNOWN,
        why="Serdes, window sizes, aggregator logic and configuration are in no description of a "
        "topology, and equal descriptions were measured to go silently wrong.",
        source="measured on Kafka Streams 4.3.1",
        question="Did serdes, window sizes, aggregator logic, store names or configuration change?",
        remedy="Rehearse the upgrade on a copy, or reset and replay.",
    )
