"""A rehearsal of Kafka Streams for people at a terminal: the engine's verdict, then ours."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.model.kafka_streams_rehearsal import StoreFate, StreamsVerdict
from headgate.model.rehearsal import EngineOutcome
from headgate.rules.compare.engine_agreement import Judged
from headgate.rules.core.report import Report
from headgate.text.tables import harmless
from headgate.views.reports.comparison_terminal import report_text
from headgate.views.reports.kafka_streams_rehearsal import facts, headline
from headgate.views.reports.rehearsal import row_words
from headgate.views.reports.rehearsal_terminal import AGREEMENT, ENGINE

_SHOWN = 5


def streams_rehearsal_text(
    report: Report, engine: StreamsVerdict, judged: Judged
) -> RenderableType:
    """Return what `rehearse` prints."""
    return Group(*_parts(engine, judged), Text(), Text("The rules", "bold"), report_text(report))


def _parts(engine: StreamsVerdict, judged: Judged) -> Iterator[RenderableType]:
    title = Text.assemble((headline(engine), ENGINE[engine.outcome]))
    release = engine.streams_version or "of no known release"
    yield title.append(f"  (kafka streams {release})", "dim")
    lost = {s.store for s in engine.stores if s.fate is StoreFate.LOST}
    for name, value in facts(engine):
        is_loss = name == "Store" and value.partition(":")[0] in lost
        yield Text.assemble(
            (f"  {name:14}", "dim"), (harmless(value), "bold red" if is_loss else "")
        )
    if engine.output is not None:
        yield from _rows("only old", [row_words(r) for r in engine.output.sample_before])
        yield from _rows("only new", [row_words(r) for r in engine.output.sample_after])
    elif engine.outcome is EngineOutcome.RESUMES:
        yield from _rows("record", engine.rows)
    yield Text.assemble(
        (judged.agreement.value, AGREEMENT[judged.agreement]), f": {harmless(judged.why)}"
    )


def _rows(word: str, rows: list[str] | tuple[str, ...]) -> Iterator[RenderableType]:
    for row in rows[:_SHOWN]:
        yield Text.assemble((f"  {word:14}", "dim"), row)
    if len(rows) > _SHOWN:
        yield Text(f"  {'':14}… {len(rows) - _SHOWN} more in --format json", "dim")
