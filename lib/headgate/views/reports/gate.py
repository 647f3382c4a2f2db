"""A check of a whole change as a document and as JSON: a line for each pipeline, worst first."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from headgate.errors import cause_and_step
from headgate.rules.compare.gated import Gated, GateReport, PipelineChange
from headgate.rules.compare.twin_findings import example_words
from headgate.rules.core.report import Finding, Outcome
from headgate.text.numbers import plural
from headgate.views.reports.comparison import LEVELS, comparison_document
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.document import (
    Document,
    Item,
    Section,
    SourceLocation,
    Table,
    first_sentence,
)
from headgate.views.reports.twin import twin_facts, with_twin_section
from headgate.views.reports.verdict_line import is_mixed
from headgate.views.scene.outcome_words import GLYPHS, MIXED_GLYPH, WORDS

_HEAD = ("", "pipeline", "reason", "counterexample", "what to do", "scenario")
_NOT_COMPARED = "not-compared"


def gate_document(
    report: GateReport, *, fail_on: Collection[str] = (), reasons: Mapping[str, str] | None = None
) -> Document:
    """Return what `gate` says; each changed pipeline is a part.

    `reasons` are the rules' own descriptions by code, for formats that list rules.
    """
    changed = [p for p in report.pipelines if p.change is not PipelineChange.UNCHANGED]
    same = [p.pipeline for p in report.pipelines if p.change is PipelineChange.UNCHANGED]
    title, sentence = _headline(report, changed, fail_on)
    return Document(
        command="headgate gate",
        level=LEVELS[report.outcome],
        glyph=GLYPHS[report.outcome],
        title=title,
        sentence=sentence,
        scope=f"changes since {report.revision}, commit {report.base[:10]}",
        items=(),
        passed="no pipeline changed",
        table=Table(head=_HEAD, rows=tuple(map(_row, changed))) if changed else None,
        parts=tuple(_part(p, fail_on, reasons or {}) for p in changed),
        sections=_unchanged(same),
        warnings=report.warnings,
        properties={"outcome": report.outcome.word, "base": report.base},
    )


def _headline(
    report: GateReport, changed: list[Gated], fail_on: Collection[str]
) -> tuple[str, str]:
    if not changed:
        return "No changes.", "No registered pipeline changed."
    failing = [p.pipeline for p in changed if p.closes(fail_on)]
    count = f"{len(changed)} of {plural(len(report.pipelines), 'pipeline')} changed."
    if failing:
        return f"{WORDS[report.outcome]}.", f"{count} Do not deploy: {', '.join(failing)}."
    return f"{WORDS[report.outcome]}.", f"{count} The check passed."


def _unchanged(names: list[str]) -> tuple[Section, ...]:
    if not names:
        return ()
    title = f"{plural(len(names), 'pipeline')} unchanged"
    return (Section(title=title, lines=(", ".join(names),), is_long=True),)


def _row(one: Gated) -> tuple[str, ...]:
    example = one.twin.counterexample if one.twin else None
    worst = _worst(one)
    command = _command(one, worst.scenario) if worst else None
    return (
        f"{_glyph(one)} {verdict_word(one)}",
        one.pipeline,
        reason(one),
        example_words(example) if example else "",
        todo(one),
        f"`{command}`" if command else "",
    )


def _glyph(one: Gated) -> str:
    mixes = one.report is not None and is_mixed(one.report)
    is_good = one.outcome <= Outcome.NO_EFFECT
    return MIXED_GLYPH if mixes and is_good else GLYPHS[one.outcome]


def verdict_word(one: Gated) -> str:
    """Return the outcome, or that a pipeline is new or removed and has none."""
    if one.said and one.change in (PipelineChange.NEW, PipelineChange.REMOVED):
        return one.change.value.capitalize()
    return WORDS[one.outcome]


def reason(one: Gated) -> str:
    """Return why a pipeline has its verdict, in one sentence."""
    if one.error:
        return f"Not compared: {cause_and_step(one.error)[0]}"
    if one.said:
        return one.said
    worst = _worst(one)
    if worst is not None:
        return first_sentence(worst.why)
    if one.open:
        return first_sentence(one.open[0])
    if one.report is not None and one.report.changes:
        return "The new version resumes where the old version stopped."
    same = "Both versions are the same for the engine."
    return f"{same} {_why_checked(one)}." if one.reasons else same


def _worst(one: Gated) -> Finding | None:
    """Return the finding that decides the outcome; one that nobody accepted comes first."""
    if one.report is None or one.report.outcome is not one.outcome:
        return None
    found = [f for f in one.report.findings if f.outcome is one.outcome]
    return next((f for f in found if f.accepted is None), next(iter(found), None))


def todo(one: Gated) -> str:
    """Return what to do in one sentence."""
    if one.error:
        return cause_and_step(one.error)[1]
    worst = _worst(one)
    if worst is None:
        return one.open[0].partition(". ")[2] if one.open else ""
    return (worst.question if worst.outcome is Outcome.UNKNOWN else worst.remedy) or ""


def _command(one: Gated, scenario: str | None) -> str | None:
    return f"headgate plan {scenario} {shlex.quote(one.pipeline)}" if scenario else None


def _part(one: Gated, fail_on: Collection[str], reasons: Mapping[str, str]) -> Document:
    """Return one pipeline's own document."""
    document = Document(
        command="headgate gate",
        level=LEVELS[one.outcome],
        title=f"{one.pipeline}: {verdict_word(one)}",
        glyph=_glyph(one),
        items=(),
        passed=one.pipeline,
        properties={"outcome": one.outcome.word},
    )
    if one.report is not None:
        known = comparison_document(one.report, fail_on=fail_on, reasons=reasons)
        document = replace(
            document,
            items=known.items,
            sections=known.sections,
            warnings=known.warnings,
            scope=known.scope,
        )
    if one.twin is not None:
        document = with_twin_section(document, one.twin, one.disagreements)
    about = Section(title="About", lines=tuple(_about(one)))
    return replace(
        document,
        command="headgate gate",
        name=one.pipeline,
        sentence=reason(one),
        items=(*_open_items(one, fail_on), *_owned(document.items, one)),
        sections=(about, *document.sections),
        warnings=(*one.warnings, *document.warnings),
        location=SourceLocation(*one.place) if one.place else None,
    )


def _about(one: Gated) -> Iterator[str]:
    if one.reasons:
        yield _why_checked(one)
    if one.report is not None:
        yield f"Compared with the {_OLD[one.compared_with]} ({one.old})"
    if one.twin_note:
        yield one.twin_note
    if one.said or not one.reasons:
        yield reason(one)


def _why_checked(one: Gated) -> str:
    return f"Reason for the check: {'; '.join(one.reasons).rstrip('.')}"


_OLD = {"baseline": "baseline", "running": "running version", "base": "code at the base commit"}


def _owned(items: tuple[Item, ...], one: Gated) -> Iterator[Item]:
    """Yield findings with the pipeline's name in what identifies them, and in the command."""
    for item in items:
        scenario = item.properties.get("scenario")
        command = _command(one, str(scenario)) if scenario else None
        facts = tuple((n, command if n == "Scenario" and command else t) for n, t in item.facts)
        yield replace(item, facts=facts, identity=f"{one.pipeline} {item.identity}")


def _open_items(one: Gated, fail_on: Collection[str]) -> Iterator[Item]:
    """Yield what leaves the verdict open beside the rules: an error, or a question."""
    for text in (*([f"Not compared: {one.error}"] if one.error else []), *one.open):
        yield Item(
            rule=_NOT_COMPARED,
            level=LEVELS[Outcome.UNKNOWN],
            kind=Outcome.UNKNOWN.word,
            glyph=GLYPHS[Outcome.UNKNOWN],
            word=WORDS[Outcome.UNKNOWN].lower(),
            what=(text,),
            identity=f"{one.pipeline} {text}",
            closes=Outcome.UNKNOWN.word in fail_on,
            reason="Headgate doesn't know what the engine does with the new version. The message "
            "names the error, or a question that you must answer.",
        )


def gate_json(report: GateReport) -> dict[str, Any]:
    """Return the object that `gate --format json` prints; every value is plain."""
    return {
        "schema": 1,
        "outcome": report.outcome.word,
        "base": report.base,
        "revision": report.revision,
        "pipelines": [_pipeline_json(p) for p in report.pipelines],
        "warnings": list(report.warnings),
    }


def _report_json(one: Gated) -> dict[str, Any] | None:
    if one.report is None:
        return None
    if one.twin is None:
        return report_json(one.report)
    return report_json(one.report) | twin_facts(
        one.twin, one.disagreements, one.versions, one.lowered
    )


def _pipeline_json(one: Gated) -> dict[str, Any]:
    worst = _worst(one)
    return {
        "pipeline": one.pipeline,
        "changed": one.change is not PipelineChange.UNCHANGED,
        "change": one.change.value,
        "outcome": one.outcome.word,
        "compared_with": one.compared_with.value,
        "old": one.old or None,
        "reason": reason(one) if one.change is not PipelineChange.UNCHANGED else "",
        "scenario": worst.scenario if worst else None,
        "command": _command(one, worst.scenario) if worst else None,
        "changes": list(one.reasons),
        "questions": list(one.open),
        "twin": "ran" if one.twin else one.twin_note or None,
        "report": _report_json(one),
        "error": one.error,
        "warnings": list(one.warnings),
    }
