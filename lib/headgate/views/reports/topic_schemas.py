"""Comparisons of schemas as a document."""

from __future__ import annotations

from collections.abc import Collection

from headgate.model.topic_schema import Effect, Mode, SchemaFinding, SchemaReport
from headgate.rules.core.report import Outcome
from headgate.rules.topic_schemas.facts.field_reads import TopicUse
from headgate.views.reports.comparison import LEVELS
from headgate.views.reports.document import Document, Item, Section
from headgate.views.scene.outcome_words import GLYPHS

OUTCOMES = {
    Effect.INCOMPATIBLE: Outcome.REFUSES,
    Effect.SILENTLY_WRONG: Outcome.SILENTLY_WRONG,
    Effect.UNKNOWN: Outcome.UNKNOWN,
    Effect.COMPATIBLE: Outcome.RESUMES,
}
"""Outcome with the sign and colour of an effect."""
WORDS = {
    Effect.INCOMPATIBLE: "incompatible",
    Effect.SILENTLY_WRONG: "wrong results",
    Effect.UNKNOWN: "unknown",
    Effect.COMPATIBLE: "compatible",
}
SENTENCES = {
    Effect.INCOMPATIBLE: "Incompatible: consumers can fail to read records.",
    Effect.SILENTLY_WRONG: "Wrong results: consumers read wrong values without an error.",
    Effect.UNKNOWN: "Unknown: first answer the questions in the findings.",
    Effect.COMPATIBLE: "Compatible.",
}


def schemas_document(report: SchemaReport, *, fail_on: Collection[str] = ()) -> Document:
    """Return what `schemas check` and `schemas diff` say; `fail_on` fails the check."""
    older = ", ".join(report.compared)
    against = f"compared with {older}" if older else "no older version to compare with"
    opinion = {
        True: "The schema registry accepts the new schema.",
        False: "The schema registry rejects the new schema.",
        None: "",
    }
    fields = tuple(
        f"{c.kind.value:8} {c.path}: {' -> '.join(w for w in (c.before, c.after) if w)}"
        for c in report.changes
    )
    return Document(
        command="headgate schemas",
        level=LEVELS[OUTCOMES[report.effect]],
        glyph=GLYPHS[OUTCOMES[report.effect]],
        title=SENTENCES[report.effect],
        sentence=opinion[report.second_opinion],
        scope=f"{report.mode.value} compatibility, {against}",
        items=tuple(_item(f, fail_on) for f in report.findings),
        passed="compatible",
        sections=(Section(title="Fields", lines=fields, is_long=True),) if fields else (),
        warnings=report.warnings,
    )


def _item(finding: SchemaFinding, fail_on: Collection[str]) -> Item:
    path = finding.path or "the whole schema"
    notes = (finding.direction.value if finding.direction else None, path, finding.pipeline)
    told = (("Question", finding.question), ("Remedy", finding.remedy), ("Source", finding.source))
    return Item(
        rule=finding.rule,
        level=LEVELS[OUTCOMES[finding.effect]],
        kind=finding.effect.word,
        glyph=GLYPHS[OUTCOMES[finding.effect]],
        word=WORDS[finding.effect],
        notes=tuple(filter(None, notes)),
        what=(finding.why,),
        values=(finding.before or "nothing", finding.after or "nothing"),
        facts=tuple((name, text) for name, text in told if text),
        nodes=((path, path),),
        location=path,
        todo=finding.question or finding.remedy,
        accepted=finding.accepted,
        identity=repr((finding.rule, finding.effect.word, path, finding.before, finding.after)),
        closes=SchemaReport(findings=(finding,), mode=Mode.BACKWARD).closes(fail_on),
        reason=finding.why,
        properties={"outcome": finding.effect.word, "question": finding.question},
    )


def use_line(use: TopicUse) -> str:
    """Return what a consumer does with the records, in one line."""
    if use.blind:
        return f"{use.pipeline}: unknown, because {use.blind}"
    parts = [", ".join(sorted(use.read)) or "no specific field"]
    if use.whole:
        parts.append(f"passes whole records to {', '.join(use.whole)}")
    return f"{use.pipeline}: {'; '.join(parts)}"
