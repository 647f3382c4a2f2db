"""What a comparison says: findings, changes, and how bad the whole is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, Protocol, Self

from headgate.model.registered_pipelines import Acceptance
from headgate.model.topology import Node, Topology
from headgate.model.version import Version


class Outcome(IntEnum):
    """What the engine does on restart; a larger value is worse, and the order is the contract's.

    RESUMES: on top of the state that was left. NO_EFFECT: pinned or ignored. UNKNOWN: the
    evidence doesn't decide it, so it is never treated as safe. SILENTLY_WRONG: it runs. REFUSES: it
    does not start, or stops at the first batch.
    """

    RESUMES = 0
    NO_EFFECT = 1
    UNKNOWN = 2
    SILENTLY_WRONG = 3
    REFUSES = 4

    @property
    def word(self) -> str:
        """The contract's word, `silently_wrong` and the like."""
        return self.name.lower()


class StateEffect(StrEnum):
    """What happens to the history that the checkpoint holds."""

    EXACT = "exact"
    MIXED = "mixed"
    REINTERPRETED = "reinterpreted"
    ORPHANED = "orphaned"
    LOST = "lost"
    NONE = "none"


class Rollback(StrEnum):
    """Once the new version was tried: the old one runs, runs after the remedy, or never.

    It says whether the old version starts; whether its state is still what it was is the
    state effect's business.
    """

    SAFE = "safe"
    REPAIRABLE = "repairable"
    LOST = "lost"
    UNKNOWN = "unknown"


class HasNode(Protocol):
    """A fact of a version that belongs to a node: an operator, a store, a source, a sink."""

    @property
    def node(self) -> str | None:
        """The node's id, None where no node is known."""


@dataclass(frozen=True, slots=True)
class Location:
    """The node that a finding or a change is about, by id in each version; None: in none."""

    before: str | None = None
    after: str | None = None

    @classmethod
    def between(cls, before: HasNode | None, after: HasNode | None) -> Self:
        """Return the nodes of two facts, each None where its version has no such fact."""
        return cls(before.node if before else None, after.node if after else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a rule noticed.

    `before` and `after` are plain values (text, numbers, lists of them). `error_class` is the
    engine's condition without sub-condition, or the exception's class. `source` says how it is
    known: a page of the engine's documentation or the version that it was measured on.
    """

    rule: str
    outcome: Outcome
    why: str
    source: str
    state_effect: StateEffect | None = None
    location: Location = Location()
    before: Any = None
    after: Any = None
    question: str | None = None
    error_class: str | None = None
    rollback: Rollback = Rollback.UNKNOWN
    remedy: str = ""
    scenario: str | None = None
    accepted: Acceptance | None = None

    def __post_init__(self) -> None:
        if self.outcome is Outcome.UNKNOWN and not self.question:
            raise ValueError(f"{self.rule}: `unknown` needs the question that decides it")


class ChangeKind(StrEnum):
    """How a node of the graph differs between two versions."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Change:
    """One visible difference, whether or not a rule has something to say about it."""

    kind: ChangeKind
    before: str | None
    after: str | None
    what: str


class UpgradeWay(StrEnum):
    """How a new version of a Kafka Streams application is deployed.

    ROLLING: one instance after the other. OFFLINE: all stopped at once, nothing lost. RESET:
    rebuild the state, or undo the change. UNKNOWN: it depends on a question.
    """

    ROLLING = "rolling"
    OFFLINE = "offline"
    RESET = "reset"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The way of an upgrade, its steps in order, and why no easier one will do."""

    way: UpgradeWay
    steps: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Labels:
    """What people call the nodes, {id: label} of each version."""

    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The answer: findings worst first, changes, and which node became which.

    `judged_for` is the engine and version that the verdicts hold for, such as `spark 4.2.0`, and
    when Kafka was checked, if it was. `upgrade` is None if an engine has but one way. `labels` are
    of the nodes that findings and changes are about.
    """

    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    matches: Mapping[str, str] = field(default_factory=dict)
    judged_for: str = ""
    warnings: tuple[str, ...] = ()
    upgrade: Upgrade | None = None
    labels: Labels = Labels()

    @property
    def outcome(self) -> Outcome:
        """The worst finding's; a report without findings resumes."""
        return max((f.outcome for f in self.findings), default=Outcome.RESUMES)

    def closes(self, words: Iterable[str]) -> bool:
        """Say whether a finding that nobody accepted is one of `words` (outcomes, or `mixed`)."""
        named = set(words)
        return any(
            f.outcome.word in named
            or (f.state_effect is StateEffect.MIXED and StateEffect.MIXED.value in named)
            for f in self.findings
            if f.accepted is None
        )


def labels_of(report: Report, before: Version, after: Version) -> Labels:
    """Return the labels of the nodes that findings and changes name, of each version."""
    old = {w.location.before for w in report.findings} | {c.before for c in report.changes}
    new = {w.location.after for w in report.findings} | {c.after for c in report.changes}
    return Labels(_labels(before.topology, old), _labels(after.topology, new))


def _labels(topology: Topology, ids: set[str | None]) -> dict[str, str]:
    return {n.id: label_of(n) for n in topology.nodes if n.id in ids}


def label_of(node: Node) -> str:
    """Return the operator and what it does; the word once where the label says no more."""
    word = node.operator.replace("_", " ")
    known = node.label.replace("_", " ").lower().startswith(word)
    return node.label if known else f"{word} {node.label}"
