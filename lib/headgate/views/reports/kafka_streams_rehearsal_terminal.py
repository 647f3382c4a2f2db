"""A rehearsal of Kafka Streams for people at a terminal: the engine's verdict, then ours."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.compat.agreement import Judged
from headgate.compat.report import Report
from headgate.model.rehearsal import EngineOutcome
from headgate.model.streams_rehearsal import StoreFate, StreamsVerdict
from headgate.views.plain_text import harmless
from headgate.views.rehearsal_text import AGREEMENT, ENGINE
from headgate.views.rehearsal_words import row_words
from headgate.views.report_text import report_text
from headgate.views.streams_rehearsal_words import facts, headline

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
