"""The report on one version: findings by severity, and what could not be checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from headgate.model.registered_pipelines import Acceptance


class Severity(IntEnum):
    """How much it will hurt; a larger value is worse.

    LOW: work or a surprise that can be prepared for. MEDIUM: a reset, an upgrade or a fail-over
    takes long, doubles results or needs manual work. HIGH: data or state is lost, or nothing
    resumes.
    """

    LOW = 0
    MEDIUM = 1
    HIGH = 2

    @property
    def word(self) -> str:
        """The contract's word, `high` and the like."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a check yields; the rule adds its code, its reason and its source.

    `location` is a node's id, None for the whole pipeline. `what` is what is there, `remedy`
    what to do. `keeps_state` says whether the remedy leaves the state as it is, None if that is
    unknown or there is no remedy. `question` is what would decide whether this matters, None if
    nothing is open.
    """

    severity: Severity
    what: str
    remedy: str
    location: str | None = None
    keeps_state: bool | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessFinding(Problem):
    """A problem that a rule noticed: `why` is what comes of it, `source` says how it is known."""

    rule: str
    why: str
    source: str
    accepted: Acceptance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessReport:
    """Findings worst first; `warnings` say what was not checked, and what would show it."""

    name: str | None = None
    engine: str = ""
    findings: tuple[ReadinessFinding, ...] = ()
    warnings: tuple[str, ...] = ()

    def closes(self, words: Iterable[str]) -> bool:
        """Say whether a finding that nobody accepted is one of `words` (severities, or codes)."""
        named = set(words)
        return any({f.severity.word, f.rule} & named for f in self.findings if f.accepted is None)
