"""A rehearsal for people at a terminal: the engine's verdict, then that of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headgate.model.kafka_streams_rehearsal import StoreFate, StreamsVerdict
from headgate.model.rehearsal import EngineOutcome, EngineVerdict
from headgate.rules.compare.engine_agreement import Agreement, Judged
from headgate.rules.compare.rollback import judge_rollback
from headgate.rules.core.report import Report
from headgate.text.tables import terminal_safe
from headgate.views.reports import kafka_streams_rehearsal, rehearsal
from headgate.views.reports.comparison import comparison_document
from headgate.views.reports.document import Level
from headgate.views.reports.document_terminal import STYLES, terminal_text

_ENGINE = {
    EngineOutcome.REFUSES: STYLES[Level.FAILS],
    EngineOutcome.RESUMES: STYLES[Level.GOOD],
    EngineOutcome.UNKNOWN: STYLES[Level.WARNING],
}
_AGREEMENT = {
    Agreement.AGREE: "green",
    Agreement.DISAGREE: "bold red",
    Agreement.OPEN: "yellow",
}
_SHOWN = 5


def rehearsal_text(report: Report, engine: EngineVerdict, judged: Judged) -> RenderableType:
    """Return what `rehearse` prints of a Spark query."""
    rows = [("row", [rehearsal.row_words(row) for row in engine.rows])]
    parts = [
        _title(rehearsal.headline(engine), engine.outcome, f"Spark {engine.spark_version}"),
        *(_fact(name, value) for name, value in rehearsal.facts(engine)),
        *_rows(engine, rows),
        _agreement("", judged),
    ]
    if engine.rollback is not None:
        parts.append(_agreement("rollback, ", judge_rollback(report, engine.rollback)))
    return _with_rules(parts, report)


def streams_rehearsal_text(
    report: Report, engine: StreamsVerdict, judged: Judged
) -> RenderableType:
    """Return what `rehearse` prints of a Kafka Streams application."""
    lost = {s.store for s in engine.stores if s.fate is StoreFate.LOST}
    release = f"Kafka Streams {engine.streams_version or 'of unknown release'}"
    rows = [("record", engine.rows)] if engine.outcome is EngineOutcome.RESUMES else []
    parts = [
        _title(kafka_streams_rehearsal.headline(engine), engine.outcome, release),
        *(
            _fact(name, value, bad=name == "Store" and value.partition(":")[0] in lost)
            for name, value in kafka_streams_rehearsal.facts(engine)
        ),
        *_rows(engine, rows),
        _agreement("", judged),
    ]
    return _with_rules(parts, report)


def _with_rules(parts: Iterable[RenderableType], report: Report) -> RenderableType:
    rules = terminal_text(comparison_document(report))
    return Group(*parts, Text(), Text("The rules", "bold"), rules)


def _title(headline: str, outcome: EngineOutcome, release: str) -> Text:
    return Text.assemble((headline, _ENGINE[outcome]), (f"  ({release})", "dim"))


def _fact(name: str, value: str, *, bad: bool = False) -> Text:
    return Text.assemble((f"  {name:14}", "dim"), (terminal_safe(value), "bold red" if bad else ""))


def _agreement(what: str, judged: Judged) -> Text:
    style = _AGREEMENT[judged.agreement]
    said = f": {terminal_safe(judged.why)}"
    return Text.assemble((what, "dim"), (judged.agreement.value, style), said)


def _rows(
    engine: EngineVerdict | StreamsVerdict, own: Iterable[tuple[str, Sequence[str]]]
) -> Iterator[Text]:
    """Yield a sample: of what two versions wrote differently, else of the run's `own` rows."""
    if (output := engine.output) is not None:
        both = (("only old", output.sample_before), ("only new", output.sample_after))
        own = [(word, [rehearsal.row_words(row) for row in rows]) for word, rows in both]
    for word, rows in own:
        yield from (Text.assemble((f"  {word:14}", "dim"), row) for row in rows[:_SHOWN])
        if len(rows) > _SHOWN:
            yield Text(f"  {'':14}… {len(rows) - _SHOWN} more in --format json", "dim")
