"""What a comparison of two versions says, as the data that a plan holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.errors import ScenarioError
from headgate.model.cluster import Group
from headgate.model.version import Sink, Version

FAIL_ON = ("refuses", "silently_wrong", "unknown")
WORDS = (*FAIL_ON, "mixed", "no_effect")
NEVER = "none"
_SHOWN = {
    "refuses": "fails to start",
    "silently_wrong": "wrong results",
    "no_effect": "no effect",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One finding: `outcome`, `rollback` and `scenario` in the contract's words.

    `closes` says whether it fails the check: accepted findings and outcomes that `--fail-on` leaves
    out don't.
    """

    rule: str
    outcome: str
    why: str
    closes: bool
    rollback: str = "unknown"
    error_class: str | None = None
    question: str | None = None
    scenario: str | None = None
    accepted: str | None = None

    def sentence(self) -> str:
        """Return the finding, what it asks, and what gets over it."""
        shown = _SHOWN.get(self.outcome, self.outcome)
        parts = [f"{self.rule} ({shown}): {self.why.rstrip('.')}"]
        if self.question:
            parts.append(f"open question: {self.question}")
        if self.scenario:
            parts.append(f"use `headgate plan {self.scenario}`")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeVerdict:
    """`before` and `after` are the versions' fingerprints, `evidence` the new one's name.

    `evidence` names a stored version with its number and a file with its whole path, so that a
    rebuilt plan reads the same; `compared` is the same of the old one. `before` is empty if only
    its checkpoint is known. `sink` is where a new Spark version writes, and which fields.
    """

    outcome: str
    before: str
    after: str
    evidence: str
    compared: str
    findings: tuple[Judged, ...] = ()
    rollback: str = "safe"
    warnings: tuple[str, ...] = ()
    sink: Sink | None = None

    @property
    def closed(self) -> tuple[Judged, ...]:
        """The findings that fail the check."""
        return tuple(f for f in self.findings if f.closes)

    def blockers(self) -> tuple[str, ...]:
        """Return why the new version can't be deployed, and what answers open questions."""
        found = [f"the check of the new version fails: {f.sentence()}" for f in self.closed]
        if any(f.question for f in self.closed):
            found.append(
                f"Headgate read the running version from {self.compared or 'its checkpoint'}. To "
                "answer an open question, pass --before with a stored version, or with evidence of "
                "the running version (such as its query plan or topology)"
            )
        return tuple(found)

    @property
    def codes(self) -> tuple[str, ...]:
        """Every finding as `RULE outcome`, once, in order."""
        return tuple(sorted({f"{f.rule} {f.outcome}" for f in self.findings}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What distinguishes the new version's run from those before it.

    `committed` and `begun` are the last batches in the commit log and the offset log that the old
    version left, None if a log was empty. `group` is a Kafka Streams application's, as it is now.
    """

    query_id: str | None = None
    committed: int | None = None
    begun: int | None = None
    group: Group | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningVersion:
    """What was seen of the version that runs, beside the one that was judged; clauses.

    It is that version only where it was `told_by` something, and both others are empty.
    """

    told_by: str | None = None
    differs: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where a query was seen to write (a folder, table or topic), and the source that says so."""

    place: str
    told_by: str


def said_findings(findings: Iterable[Judged]) -> str:
    """Return the findings as one text, with the sign at its end."""
    found = "; ".join(one.sentence() for one in findings)
    return found if found.endswith("?") else f"{found.rstrip('.')}."


def new_codes(verdict: UpgradeVerdict, approved: Iterable[str]) -> tuple[Judged, ...]:
    """Return the findings that nobody has seen when the plan was approved."""
    known = set(approved)
    return tuple(f for f in verdict.findings if f"{f.rule} {f.outcome}" not in known)


def read_fail_on(given: str | None) -> tuple[str, ...]:
    """Return the outcomes that fail the check, in order; ScenarioError for an unknown word."""
    if given is None:
        return FAIL_ON
    words = {word.strip() for word in given.split(",") if word.strip()}
    if words == {NEVER}:
        return ()
    if not words or words - set(WORDS):
        known = ", ".join(WORDS)
        raise ScenarioError(
            f"--fail-on: expected `none` or a comma-separated list of {known}, found {given!r}"
        )
    return tuple(word for word in WORDS if word in words)


class EvidenceInspector(Protocol):
    """What a plan may ask of evidence and the rules; no answer is cached."""

    def described(self, pipeline: str) -> Version | None:
        """Return what the registered `evidence` of a pipeline says, None if it has none.

        EvidenceError if it can't be read.
        """

    def verdict(
        self, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
    ) -> UpgradeVerdict:
        """Judge the version `after` (evidence) on top of what the pipeline has left by now.

        `before` is evidence of the version that runs, None: what was seen last. EvidenceError and
        CaptureError where either can't be read.
        """

    def running_version(
        self, pipeline: str, after: str, version: str, trace: Trace
    ) -> RunningVersion:
        """Compare what runs with `after`, whose fingerprint was `version` when it was judged.

        EvidenceError and CaptureError if `after` can't be read. A running version that no source
        reports is an answer, and not an error.
        """

    def outputs(self, pipeline: str, query_id: str | None = None) -> tuple[Output, ...]:
        """Return where watch and registered evidence say that a Spark query writes; it never fails.

        With `query_id` only runs of that query count. Empty if no source says where.
        """

    def schema_issues(
        self, topic: str, new: str | Sink, old: Sink | None = None
    ) -> tuple[str, ...] | None:
        """Return what consumers of `topic` can't read, or misread, in the records of a new version.

        The records have the schema of the topic `new`, or are what a Spark query with the sink
        `new` writes instead of the sink `old`. Schemas of topics are those of the registry or of
        headgate.toml. None if nothing is known to compare with. SchemaError if a schema can't be
        read, UnreachableError if the registry doesn't answer.
        """
