"""A comparison as a document: its verdict, each finding with its facts, the way of the upgrade."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from headgate.rules.core.report import (
    Finding,
    Labels,
    Outcome,
    Report,
    Rollback,
    StateEffect,
    Upgrade,
)
from headgate.text.numbers import plural
from headgate.views.reports.document import Document, Item, Level, Section
from headgate.views.reports.verdict_line import HEADLINES, verdict
from headgate.views.scene.outcome_words import GLYPHS, WORDS

LEVELS = {
    Outcome.REFUSES: Level.FAILS,
    Outcome.SILENTLY_WRONG: Level.WRONG,
    Outcome.UNKNOWN: Level.WARNING,
    Outcome.NO_EFFECT: Level.NOTE,
    Outcome.RESUMES: Level.GOOD,
}
ROLLBACKS = {
    Rollback.SAFE: "the old version can be started again",
    Rollback.REPAIRABLE: "the old version can be started again after you apply the remedy",
    Rollback.LOST: "the old version can't be started again with this state",
    Rollback.UNKNOWN: "unknown",
}


_STATES = {
    StateEffect.EXACT: "state kept",
    StateEffect.MIXED: "state kept, results mixed",
    StateEffect.REINTERPRETED: "state kept, values interpreted differently",
    StateEffect.ORPHANED: "state kept on disk, but unused",
    StateEffect.LOST: "state lost",
}


def comparison_document(
    report: Report, *, fail_on: Collection[str] = (), reasons: Mapping[str, str] | None = None
) -> Document:
    """Return what `diff` says; `fail_on` are the outcomes that fail the check.

    `reasons` are the rules' own descriptions by code, for formats that list rules.
    """
    said = verdict(report)
    return Document(
        command="headgate diff",
        level=LEVELS[report.outcome],
        glyph=said.glyph,
        title=said.word,
        sentence=said.sentence,
        scope=report.judged_for,
        items=tuple(_item(f, report.labels, fail_on, reasons or {}) for f in report.findings),
        passed="resumes",
        sections=tuple(_sections(report)),
        warnings=report.warnings,
        properties={"outcome": report.outcome.word, "judged_for": report.judged_for},
    )


def _item(
    finding: Finding, labels: Labels, fail_on: Collection[str], reasons: Mapping[str, str]
) -> Item:
    at, has_values = finding.location, (finding.before, finding.after) != (None, None)
    parts = (finding.rule, finding.outcome.word, at, finding.before, finding.after)
    sides = ((at.before, labels.before), (at.after, labels.after))
    nodes = tuple((node, names.get(node, node)) for node, names in sides if node is not None)
    return Item(
        rule=finding.rule,
        level=LEVELS[finding.outcome],
        kind=finding.outcome.word,
        glyph=GLYPHS[finding.outcome],
        word=WORDS[finding.outcome].lower(),
        notes=_state_notes(finding.state_effect),
        what=(finding.why,),
        values=(value_text(finding.before), value_text(finding.after)) if has_values else None,
        facts=tuple(_facts(finding, labels)),
        nodes=nodes,
        location=nodes[-1][1] if nodes else "",
        todo=_todo(finding),
        accepted=finding.accepted,
        identity=repr(parts),
        closes=Report(findings=(finding,)).closes(fail_on),
        reason=reasons.get(finding.rule, finding.why),
        properties={
            "outcome": finding.outcome.word,
            "error_class": finding.error_class,
            "state_effect": finding.state_effect.value if finding.state_effect else None,
            "rollback": finding.rollback.value,
            "remedy": finding.remedy,
            "scenario": finding.scenario,
            "question": finding.question,
        },
    )


def _state_notes(effect: StateEffect | None) -> tuple[str, ...]:
    """Return what happens to the state, nothing if a finding has no effect on it."""
    word = _STATES.get(effect) if effect else None
    return (word,) if word else ()


def _todo(finding: Finding) -> str:
    do = (finding.question if finding.outcome is Outcome.UNKNOWN else finding.remedy) or ""
    is_known = finding.rollback is not Rollback.UNKNOWN
    if do and is_known and matters(finding) and finding.outcome is Outcome.REFUSES:
        return f"{do} If the start fails, {ROLLBACKS[finding.rollback]}."
    return do


def _sections(report: Report) -> Iterator[Section]:
    if report.upgrade:
        steps = upgrade_lines(report.upgrade)
        yield Section(title=HEADLINES[report.upgrade.way], lines=(report.upgrade.why, *steps))
    if report.changes:
        lines = tuple(f"{change.kind.value:8} {change.what}" for change in report.changes)
        yield Section(title=plural(len(lines), "change"), lines=lines, is_long=True)


def _facts(finding: Finding, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield everything that is known of a finding beside its reason and its values, by name."""
    told = (
        ("Where", _location_words(finding, labels)),
        ("Question", finding.question),
        ("Error", finding.error_class),
        ("Remedy", finding.remedy),
        ("Scenario", finding.scenario and f"headgate plan {finding.scenario} PIPELINE"),
        ("Rollback", ROLLBACKS[finding.rollback] if matters(finding) else None),
        ("Source", finding.source),
    )
    yield from ((name, text) for name, text in told if text)


def matters(finding: Finding) -> bool:
    """Say whether a rollback is worth a word: something goes wrong, or it needs a step."""
    wrong = finding.outcome > Outcome.NO_EFFECT
    return wrong or finding.rollback in (Rollback.REPAIRABLE, Rollback.LOST)


def value_text(value: Any) -> str:
    """Return a finding's value as one line."""
    if value is None:
        return "nothing"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_text, value)) or "nothing"
    return str(value)


def _location_words(finding: Finding, labels: Labels) -> str | None:
    """Return where a finding is, in both graphs; None where it is about the whole."""
    before, after = finding.location.before, finding.location.after
    if before is None and after is None:
        return None
    if before is None:
        return f"{_named(after or '', labels.after)}, only in the new version"
    if after is None:
        return f"{_named(before, labels.before)}, only in the old version"
    old, new = _named(before, labels.before), _named(after, labels.after)
    return old if old == new else f"{old} -> {new}"


def _named(node: str, labels: Mapping[str, str]) -> str:
    """Return a node as people call it, with its id where that says more."""
    label = labels.get(node)
    return f"{label} ({node})" if label and label != node else node


def upgrade_lines(upgrade: Upgrade) -> tuple[str, ...]:
    """Return the steps, numbered."""
    return tuple(f"{i}. {step}" for i, step in enumerate(upgrade.steps, start=1))
