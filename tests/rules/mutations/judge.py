"""Judge mutants and name those that the verdict gets wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from headgate.model.version import Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Report
from headgate.usecases.evidence.read_version import read_version

from .mutant import HARMLESS, Base, Files, Mutant


@dataclass(frozen=True, slots=True)
class Miss:
    """A mutant that got an answer which is not honest."""

    base: str
    kind: str
    what: str
    said: str
    rules: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} | {self.base} | {self.what} | {self.said} {list(self.rules)}"


@lru_cache(maxsize=4)
def old_side(before: tuple[Path, ...]) -> Version:
    """Read the recorded side, once."""
    return read_version([str(p) for p in before])


def new_side(files: Files, folder: Path) -> Version:
    """Read the files of a changed version from a folder that is theirs alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in [p for p in folder.iterdir() if p.name not in files]:
        name.unlink()
    for name, text in files.items():
        (folder / name).write_text(text)
    return read_version([str(folder)])


def misses(base: Base, mutants: Iterable[Mutant], folder: Path) -> Iterator[Miss]:
    """Yield the mutants whose verdict is none of the allowed, or says nothing of the change.

    A harmless change may be called whatever the same files without it are called.
    """
    before = old_side(base.before)
    usual: dict[str, Report] = {}
    for mutant in mutants:
        report = compare(before, new_side(mutant.files, folder))
        form = mutant.kind.partition(":")[0]
        if mutant.kind.endswith("unchanged"):
            usual[form] = report
        elif problem := _problem(mutant, report, usual.get(form)):
            rules = tuple(dict.fromkeys(f.rule for f in report.findings))
            yield Miss(base.name, mutant.kind, mutant.what, problem, rules)


def _problem(mutant: Mutant, report: Report, same: Report | None) -> str | None:
    usual = {same.outcome} if same and mutant.allowed == HARMLESS else set()
    if report.outcome not in mutant.allowed | usual:
        return f"is {report.outcome.word}" + (f", else {same.outcome.word}" if same else "")
    untold = mutant.told and same is not None and _said(report) == _said(same)
    if untold and report.outcome in HARMLESS:
        return f"is not told, {report.outcome.word}"
    return None


def _said(report: Report) -> list[tuple[object, ...]]:
    return [(f.rule, f.outcome, str(f.before), str(f.after), f.question) for f in report.findings]
