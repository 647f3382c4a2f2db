"""What a check of a whole change says: every pipeline with its verdict, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from headgate.model.twin import TwinVerdict
from headgate.model.version import Version
from headgate.rules.compare.twin_findings import Disagreement
from headgate.rules.compare.twin_lowers import Lowered
from headgate.rules.core.report import Outcome, Report


class PipelineChange(StrEnum):
    """What a working tree does to a registered pipeline."""

    CHANGED = "changed"
    NEW = "new"
    RENAMED = "renamed"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


class ComparedWith(StrEnum):
    """What the new version was compared with."""

    BASELINE = "baseline"
    RUNNING = "running"
    BASE = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """One pipeline.

    `reasons` say why it counts as changed. `report` is None if versions were not compared:
    then `error` says why they could not be, or `said` why they need not be. `old` names the old
    version. `twin` is the verdict on generated rows, of `versions`; `twin_note` says why there is
    none. `plans` and `hints` are those of the twin run. `open` are questions that the report leaves
    open. `place` is where its code begins: path and line.
    """

    pipeline: str
    change: PipelineChange
    reasons: tuple[str, ...] = ()
    compared_with: ComparedWith = ComparedWith.BASE
    old: str = ""
    report: Report | None = None
    twin: TwinVerdict | None = None
    versions: tuple[Version, Version] | None = None
    disagreements: tuple[Disagreement, ...] = ()
    lowered: tuple[Lowered, ...] = ()
    plans: tuple[str, str] = ("", "")
    hints: Mapping[str, Any] = field(default_factory=dict)
    twin_note: str = ""
    said: str = ""
    error: str | None = None
    open: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    place: tuple[str, int] | None = None

    @property
    def outcome(self) -> Outcome:
        """The report's, at least UNKNOWN where something is open."""
        found = self.report.outcome if self.report else Outcome.RESUMES
        return max(found, Outcome.UNKNOWN) if self.error or self.open else found

    def closes(self, words: Iterable[str]) -> bool:
        """Say whether it fails the check; `words` are those of `Report.closes`."""
        named = set(words)
        is_open = bool(self.error or self.open) and Outcome.UNKNOWN.word in named
        return is_open or (self.report is not None and self.report.closes(named))


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """All pipelines of a change, worst first; `base` is a commit's full id, `revision` its name."""

    base: str
    revision: str
    pipelines: tuple[Gated, ...]
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst of all pipelines."""
        return max((p.outcome for p in self.pipelines), default=Outcome.RESUMES)

    def closes(self, words: Iterable[str]) -> bool:
        """Say whether a pipeline fails the check."""
        named = set(words)
        return any(p.closes(named) for p in self.pipelines)


def worst_first(pipelines: Iterable[Gated]) -> tuple[Gated, ...]:
    """Return them worst first; what didn't change comes last, and names decide the rest."""

    def key(one: Gated) -> tuple[bool, int, str]:
        return one.change is PipelineChange.UNCHANGED, -one.outcome, one.pipeline

    return tuple(sorted(pipelines, key=key))
