"""A twin run of Kafka Streams as JSON, and as a section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from headgate.model.twin import TwinVerdict
from headgate.model.version import Version
from headgate.rules.compare.twin_findings import Disagreement, Lowered
from headgate.rules.core.report import Report
from headgate.text.numbers import plural
from headgate.views.reports.document import Document, Section
from headgate.views.reports.twin import ENGINE_WORDS, disagreement_lines, twin_json


def streams_twin_json(
    report: Report,
    verdict: TwinVerdict,
    disagreements: Sequence[Disagreement],
    versions: tuple[Version, Version],
    lowered: Sequence[Lowered] = (),
) -> dict[str, Any]:
    """Return the object that a twin run prints, with stores and topics in the place of operators.

    `where` of a counterexample is the node of the finding that it belongs to.
    """
    plain = twin_json(report, verdict, disagreements, versions, lowered)
    plain["engine"]["streams_version"] = verdict.streams_version
    plain["coverage"]["sample"] = verdict.is_sampled
    plain["coverage"]["operators"] = [
        {
            "id": o.operator,
            "operator": o.operator,
            "rows_before": o.rows_before or 0,
            "rows_after": o.rows_after or 0,
        }
        for o in verdict.operators
    ]
    if plain["counterexample"]:
        found = report.findings[0].location
        plain["counterexample"]["where"] = found.after or found.before
    return plain


def with_streams_section(
    document: Document, verdict: TwinVerdict, disagreements: Sequence[Disagreement]
) -> Document:
    """Return a comparison's document with what both versions did."""
    lines = tuple(streams_lines(verdict, disagreements))
    section = Section(title=f"Twin run: {ENGINE_WORDS[verdict.outcome]}", lines=lines)
    return replace(document, command="headgate rehearse", sections=(section, *document.sections))


def streams_lines(verdict: TwinVerdict, disagreements: Sequence[Disagreement]) -> Iterator[str]:
    """Yield the reason, then what the records reached and where rules and engine disagree."""
    yield f"{verdict.why[:1].upper()}{verdict.why[1:]}."
    if verdict.question:
        yield f"To decide: {verdict.question}"
    for one in verdict.operators:
        yield (
            f"{one.operator}: {_count(one.rows_before)} in the old version, "
            f"{_count(one.rows_after)} in the new version."
        )
    made = "sampled" if verdict.is_sampled else "generated"
    yield (
        f"{plural(verdict.rows, f'{made} record')} (seed {verdict.seed}), "
        f"{plural(verdict.rows_out, 'record')} of output after the restart, "
        f"{verdict.seconds:.0f} s on Kafka Streams {verdict.streams_version}."
    )
    yield from disagreement_lines(disagreements)


def _count(rows: int | None) -> str:
    return "not there" if rows is None else plural(rows, "record")
