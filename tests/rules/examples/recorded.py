"""Recorded restarts: what the rules say of each, and what the engine did."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Finding, Outcome, Report
from headgate.usecases.evidence.read_version import read_version

from .excerpt import MOST, changed_facts, clean, cut, evidence_changes, facts, flat

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "cases"
HARMLESS = frozenset({"resumes", "no_effect"})
_DID = {
    "resumes": "{engine} resumes.",
    "no_effect": "{engine} ignores the change.",
    "silently_wrong": "{engine} starts and writes wrong results.",
    "refuses": "{engine} fails to start{error}.",
}
_WORD = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Case:
    """One recorded restart; `name` is its folder below the project's."""

    name: str
    findings: tuple[Finding, ...]
    outcome: str
    truth: dict[str, Any] = field(repr=False)

    @property
    def folder(self) -> Path:
        return ROOT / self.name

    @property
    def is_streams(self) -> bool:
        return "streams" in self.name.split("/")[2]

    @property
    def did(self) -> str:
        """What the engine did, as a sentence."""
        engine = "Kafka Streams 4.3.1" if self.is_streams else "Spark 4.2.0"
        return did(engine, self.truth["outcome"], self.truth.get("error_class"))

    @property
    def change(self) -> str:
        """What was changed, as whoever recorded it wrote it down."""
        title, change = self.truth.get("title"), self.truth["change"]
        return f"{title}: {change}" if title else change

    @property
    def is_right(self) -> bool:
        """Whether the verdict is what the engine did."""
        return self.outcome == self.truth["outcome"]

    @property
    def changes(self) -> dict[str, list[str]]:
        return _changes(self.folder)

    def codes(self) -> set[str]:
        return {f.rule for f in self.findings}

    def lines(self, words: tuple[str, ...] = ()) -> list[str]:
        """Return at most `MOST` differing lines: of the file first in which the words are."""
        files = self.changes
        order = sorted(files, key=lambda n: not any(w in x for w in words for x in files[n]))
        out: list[str] = []
        for name in order:
            out += cut(files[name], words, MOST - len(out))
        return out


def did(engine: str, outcome: str, error: str | None) -> str:
    """Say what an engine did."""
    return _DID[outcome].format(engine=engine, error=f" with {error}" if error else "")


@cache
def _changes(folder: Path) -> dict[str, list[str]]:
    found = evidence_changes(folder)
    if found:
        return found
    sides = [facts(read_version([str(folder / s)])) for s in ("before", "after")]
    # What only the old version has is its checkpoint's, and no change.
    told = [x for x in changed_facts(*sides) if x[2:].partition(":")[0] in sides[1]]
    return {"facts": told} if told else {}


def judge(folder: Path) -> Report:
    """Return what a comparison says of a recorded case."""
    return compare(*(read_version([str(folder / side)]) for side in ("before", "after")))


def load(name: str) -> Case:
    """Read and judge the case with that name."""
    report = judge(ROOT / name)
    truth = json.loads((ROOT / name / "outcome.json").read_text(encoding="utf-8"))
    return Case(name, report.findings, report.outcome.word, truth)


def cases() -> Iterator[Case]:
    """Read and judge every recorded restart: about 850 of them in 20 seconds."""
    for path in sorted(CASES.rglob("outcome.json")):
        yield load(str(path.parent.relative_to(ROOT)))


def words_of(finding: Finding) -> tuple[str, ...]:
    """Return the words of what a finding says of both versions."""
    given = flat({"before": finding.before, "after": finding.after})
    said = {w for text in given.values() for w in _WORD.findall(text) if len(w) > 2}
    return tuple(sorted(said))


def choose(code: str, known: list[Case]) -> tuple[Case, Case, tuple[str, ...]] | None:
    """Return the clearest case that a rule reports, one like it that passes, and what to show."""
    reported = [c for c in known if code in c.codes() and _is_clear(c, code)]
    if not reported:
        return None
    shown = min(reported, key=lambda c: _cost(c, code))
    words = words_of(worst_of(shown, code))
    passing = [
        c
        for c in known
        if code not in c.codes()
        and c.is_streams == shown.is_streams
        and c.is_right
        and c.outcome in HARMLESS
        and c.changes
    ]
    return shown, max(passing, key=lambda c: (_likeness(shown, c), -len(c.lines()))), words


def recorded_side(case: Case, words: tuple[str, ...], said: str = "") -> dict[str, Any]:
    """Return one half of an example."""
    return {
        "case": case.name,
        "change": case.change,
        "lines": case.lines(words),
        "said": clean(said),
        "did": case.did,
    }


def worst_of(case: Case, code: str) -> Finding:
    return max((f for f in case.findings if f.rule == code), key=lambda f: f.outcome)


def _is_clear(case: Case, code: str) -> bool:
    """Say whether a case shows its change, and the engine did what the rule says."""
    said = worst_of(case, code).outcome
    did = case.truth["outcome"]
    agrees = did == said.word or (said.word in HARMLESS and did in HARMLESS)
    return bool(case.changes) and (said is Outcome.UNKNOWN or agrees)


def _cost(case: Case, code: str) -> tuple[Any, ...]:
    found = worst_of(case, code)
    size = sum(map(len, case.changes.values()))
    shown = any(w in x for w in words_of(found) for lines in case.changes.values() for x in lines)
    worst = found.outcome.word == case.outcome
    # Of a replaced function, a plan that already has the new one elsewhere shows only the old one.
    plan = case.changes.get("formatted.txt", [])
    half = bool(found.before and found.after) and len(plan) == 1 and plan[0].startswith("- ")
    return (-found.outcome, not worst, half, not shown, "facts" in case.changes,
            size > MOST, len(case.codes()), size, case.name)  # fmt: skip


def _likeness(one: Case, other: Case) -> float:
    heads = _alike(_heads(one), _heads(other))
    words = _alike(_all_words(one), _all_words(other))
    same_kind = one.folder.name.split("_")[0] == other.folder.name.split("_")[0]
    return heads + 0.6 * words + 0.4 * same_kind


def _alike(one: set[str], other: set[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


def _heads(case: Case) -> set[str]:
    """Return what kinds of lines a case changes: the operator and its detail, or the key."""
    return {x[2:].partition(":")[0] for name, lines in case.changes.items() for x in (name, *lines)}


def _all_words(case: Case) -> set[str]:
    told = [case.change, *(x for lines in case.changes.values() for x in lines)]
    return {w for text in told for w in _WORD.findall(text)}
