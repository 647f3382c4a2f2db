"""A rehearsal for people at a terminal: the engine's verdict, then ours."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.model.rehearsal import EngineOutcome, EngineVerdict
from headgate.rules.compare.engine_agreement import Agreement, Judged
from headgate.rules.compare.rollback import judge_rollback
from headgate.rules.core.report import Outcome, Report
from headgate.text.tables import harmless
from headgate.views.reports.comparison_terminal import STYLES, report_text
from headgate.views.reports.rehearsal import facts, headline, row_words

ENGINE = {
    EngineOutcome.REFUSES: STYLES[Outcome.REFUSES],
    EngineOutcome.RESUMES: STYLES[Outcome.RESUMES],
    EngineOutcome.UNKNOWN: STYLES[Outcome.UNKNOWN],
}
AGREEMENT = {
    Agreement.AGREE: "green",
    Agreement.DISAGREE: "bold red",
    Agreement.OPEN: "yellow",
}
_SHOWN = 5


def rehearsal_text(report: Report, engine: EngineVerdict, judged: Judged) -> RenderableType:
    """Return what `rehearse` prints."""
    said = [*_parts(engine, judged), *_rollback(report, engine)]
    return Group(*said, Text(), Text("The rules", "bold"), report_text(report))


def _rollback(report: Report, engine: EngineVerdict) -> Iterator[RenderableType]:
    if engine.rollback is not None:
        judged = judge_rollback(report, engine.rollback)
        style = AGREEMENT[judged.agreement]
        yield Text.assemble(
            ("rollback, ", "dim"), (judged.agreement.value, style), f": {harmless(judged.why)}"
        )


def _parts(engine: EngineVerdict, judged: Judged) -> Iterator[RenderableType]:
    title = Text.assemble((headline(engine), ENGINE[engine.outcome]))
    title.append(f"  (spark {engine.spark_version})", "dim")
    yield title
    for name, value in facts(engine):
        yield Text.assemble((f"  {name:14}", "dim"), harmless(value))
    if engine.output is not None:
        yield from _rows("only old", engine.output.sample_before)
        yield from _rows("only new", engine.output.sample_after)
    elif engine.rows:
        yield from _rows("row", engine.rows)
    yield Text.assemble(
        (judged.agreement.value, AGREEMENT[judged.agreement]), f": {harmless(judged.why)}"
    )


def _rows(word: str, rows: tuple[dict[str, object], ...]) -> Iterator[RenderableType]:
    for row in rows[:_SHOWN]:
        yield Text.assemble((f"  {word:14}", "dim"), row_words(row))
    if len(rows) > _SHOWN:
        yield Text(f"  {'':14}… {len(rows) - _SHOWN} more in --format json", "dim")
