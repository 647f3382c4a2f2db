"""Whether what runs is the version that was judged: what `headgate diff` finds between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.topology import Node
from headgate.model.version import OperatorKind, Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Change, ChangeKind, Finding, Outcome, Report
from headgate.rules.core.source_names import is_located
from headgate.rules.core.upstream import STATEFUL, is_drawn, is_stateless
from headgate.rules.spark.facts.partial_plan import counted

# A running plan writes these in other words than a plan that never ran.
_OTHER_WORDS = ("ubquery", "_metadata")
_BY_CODE = (OperatorKind.MAP_GROUPS, OperatorKind.TRANSFORM_WITH_STATE)
# What an event log or a UI has of a plan is unresolved: steps are written in other words there.
_RESOLVED = EvidenceKind.WATCH
_EPOCH = re.compile(r", -?\d+$")
_SHOWN = 90
# Settings belong to the session, offsets and Kafka to the moment: neither tells versions apart.
_OF_THE_SESSION = ("CFG", "CKP", "WLD", "EVD", "SPK")
_OF_THE_PLAN = ("AGG", "DED", "GRP", "JOI", "OUT", "STA", "TRF001", "TWS", "WIN", "WMK")
# A client's own settings differ from place to place.
_OF_THE_CLIENT = "Option kafka."


@dataclass(frozen=True, slots=True)
class VersionMatch:
    """`differs` are sentences about what is another one, `untold` about what nothing shows."""

    differs: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


def match_versions(judged: Version, running: Version) -> VersionMatch:
    """Compare two Spark versions that should be one, by the rules and the graphs of `diff`.

    What only one side shows isn't a difference. Nor are session settings: the session that captured
    the version may have others than the one that runs.
    """
    if not (is_drawn(judged.topology) and is_drawn(running.topology)):
        side = "the running version" if is_drawn(judged.topology) else "the checked version"
        return VersionMatch(untold=(f"the query plan of {side} is not in the evidence",))
    compared = _Compared(judged, running, compare(judged, running))
    return VersionMatch(
        tuple(compared.differences()), tuple(_unseen(counted(judged), running, compared))
    )


class _Compared:
    """What a report on both versions says of their difference."""

    def __init__(self, judged: Version, running: Version, report: Report) -> None:
        self.is_resolved = any(e.kind == _RESOLVED for e in running.evidence)
        self._nodes = {n.id: n for v in (judged, running) for n in v.topology.nodes}
        self._made = {_function(f) for o in judged.stateful or () for f in o.functions or ()}
        self._report = report

    def differences(self) -> Iterator[str]:
        """Yield what differs; of a plan in other words only what its words don't decide."""
        known = [f for f in self._report.findings if self._counts(f)]
        yield from map(_sentence, known)
        named = {i for f in known for i in (f.location.before, f.location.after)}
        for change in self._report.changes if self.is_resolved else ():
            if change.before not in named and self._is_of_state(change):
                yield change.what

    def has_other_steps(self) -> bool:
        """Say whether an unresolved plan has steps that look otherwise."""
        rules = (f.rule for f in self._report.findings if not self._is_only_words(f))
        return not self.is_resolved and any(r.startswith(_OF_THE_PLAN) for r in rules)

    def _counts(self, finding: Finding) -> bool:
        if finding.outcome is Outcome.UNKNOWN or finding.rule.startswith(_OF_THE_SESSION):
            return False
        if finding.rule.startswith(_OF_THE_PLAN) and not self.is_resolved:
            return False
        if _text(finding.before) == _text(finding.after) or _OF_THE_CLIENT in finding.why:
            return False
        return not self._is_only_words(finding)

    def _is_only_words(self, finding: Finding) -> bool:
        """Say whether a step is about what a running plan writes otherwise, or leaves out."""
        if finding.rule != "TRF001":
            return False
        ids = (finding.location.before, finding.location.after)
        nodes = [self._nodes[i] for i in ids if i in self._nodes]
        names = len(nodes) == 1 and _names_only(nodes[0], self._made)
        return names or any(map(_in_other_words, nodes))

    def _is_of_state(self, change: Change) -> bool:
        """Say whether it is about what a stateful operator does, such as its limit."""
        node = self._nodes.get(change.after or "")
        is_other = change.kind is ChangeKind.CHANGED and " -> " in change.what
        return is_other and node is not None and node.operator in STATEFUL


def _sentence(finding: Finding) -> str:
    said = finding.why.partition(". ")[0].rstrip(".")
    was, now = _short(_text(finding.before)), _short(_text(finding.after))
    return f"{said} ({was} -> {now}, {finding.rule})"


def _text(value: Any) -> str:
    """Return one side of a finding; the epoch of a watermark isn't part of its delay."""
    if value in (None, (), []):
        return "none"
    shown = ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return _EPOCH.sub("", shown)


def _names_only(node: Node, made: set[str]) -> bool:
    """Say whether a projection only names what an aggregation has made: not each plan shows it."""
    columns = node.details.get("columns")
    if node.operator != "project" or not isinstance(columns, dict):
        return False
    return bool(columns) and {_function(str(v)) for v in columns.values()} <= made


def _function(text: str) -> str:
    return text.partition("(")[0].lower()


def _in_other_words(node: Node) -> bool:
    text = f"{node.label} {node.details}"
    return any(word in text for word in _OTHER_WORDS)


def _unseen(judged: Version, running: Version, compared: _Compared) -> Iterator[str]:
    if compared.has_other_steps():
        yield (
            "the two query plans write some operators differently, so Headgate did not compare "
            "these operators"
        )
    yield from (
        f"the topic or path of source {s.name or s.position} of the running version is unknown"
        for s in running.sources or ()
        if not is_located(s)
    )
    if judged.sink is not None and (running.sink is None or running.sink.format is None):
        yield "the sink of the running version is unknown"
    names = [f.name for f in judged.functions] or list(judged.user_functions)
    by_code = [o.kind.value for o in judged.stateful or () if o.kind in _BY_CODE]
    if named := [*names, *by_code]:
        yield f"Spark's query plan doesn't show the code of {', '.join(dict.fromkeys(named))}"
    if any(_in_other_words(n) for n in judged.topology.nodes if is_stateless(n)):
        yield (
            "the query plan of a running query writes subqueries and metadata columns differently, "
            "so Headgate did not compare them"
        )
    old, new = judged.engine_version, running.engine_version
    if old and new and old != new:
        yield f"the running version uses Spark {new}, but the checked version uses Spark {old}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
