"""`headgate batches PIPELINE`: the batches that a query can rewind to, with their records."""

from __future__ import annotations

from dataclasses import asdict

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.terminal import say
from headgate.text.numbers import exact, plural, short_time
from headgate.usecases.reprocess.list_batches import BatchRow, list_batches


@click.command("batches")
@click.argument("pipeline")
@click.option(
    "--newest",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of batches to list (default: all).",
    default=None,
)
@format_option()
def command(pipeline: str, newest: int | None, output: str) -> int:
    """List the batches of a Spark query, newest first, for `plan rewind --batch N`.

    Spark removes older batches (`spark.sql.streaming.minBatchesToRetain`). Times are in UTC.
    """
    rows = list_batches(current_context(), pipeline)[:newest]
    if output == "json":
        emit_json(
            {"pipeline": pipeline, "batches": [{**asdict(r), "total": r.total} for r in rows]}
        )
        return 0
    if not rows:
        say("The query hasn't completed a batch yet.")
    for row in rows:
        say(_line(row))
    return 0


def _line(row: BatchRow) -> str:
    read = ", ".join(f"{topic} {exact(n)}" for topic, n in sorted((row.records or {}).items()))
    total = row.total
    said = f"{plural(total, 'record', exact(total))} ({read})" if total is not None else ""
    mark = f"watermark {short_time(row.watermark)}" if row.watermark else ""
    parts = filter(None, (said, mark))
    return f"{row.number:>8}  planned {short_time(row.planned_at)}  {'  '.join(parts)}".rstrip()
