"""`headgate rehearse`: what Spark itself does with a copy of the checkpoint."""

from __future__ import annotations

from pathlib import Path

import click

from headgate.cli.commands.diff import ALL_OUTCOMES, FAILING
from headgate.cli.commands.rehearse_kafka_streams import streams_options
from headgate.cli.commands.rehearse_twin import rehearse_twin
from headgate.cli.shared.options import (
    current_context,
    emit_json,
    fail_on,
    format_option,
    say_started,
)
from headgate.cli.shared.terminal import print_rich


def _settings(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for text, (key, sign, _value) in zip(given, pairs, strict=True):
        if not key or not sign:
            raise click.BadParameter(f"expected KEY=VALUE, found {text!r}.")
    return {key: value for key, _sign, value in pairs}


@click.command("rehearse")
@click.option("--checkpoint", metavar="DIR", help="Spark: path or URI of the checkpoint.")
@click.option(
    "--after",
    required=True,
    metavar="ENTRY",
    help="Entry point of the new version: module:function (Spark), CLASS[#method] (Kafka Streams).",
)
@click.option(
    "--before",
    metavar="module:function",
    help="Entry point of the old version, to compare both outputs and test the rollback.",
)
@click.option(
    "--batch",
    type=click.Choice(["real", "none"]),
    default="real",
    show_default=True,
    help="Input of the rehearsal: new rows of the real sources (real), or no rows (none).",
)
@click.option(
    "--batches",
    type=click.IntRange(1, 10),
    default=1,
    show_default=True,
    help="Number of batches with new rows.",
)
@click.option(
    "--max-records",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Maximum number of new records. For Spark: in each batch, from each Kafka source. For "
    "Kafka Streams: from all input topics together.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(5),
    default=300.0,
    show_default=True,
    help="Timeout in seconds for each version (twin run of Spark: for both versions together).",
)
@click.option("--query", metavar="NAME", help="Query to rehearse, if the function starts several.")
@click.option(
    "--conf",
    multiple=True,
    callback=_settings,
    metavar="KEY=VALUE",
    help="Spark session setting; can be repeated.",
)
@click.option(
    "--allow-source",
    multiple=True,
    metavar="FORMAT",
    help="Allow a source format that rehearsals block, because reads may acknowledge or delete "
    "records. Can be repeated.",
)
@click.option(
    "--with-credentials",
    is_flag=True,
    help="Pass this shell's environment variables with credentials to the query (default: "
    "removed).",
)
@click.option(
    "--scratch",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    metavar="DIR",
    help="Folder for the copy (default: the system's temporary folder).",
)
@click.option(
    "--rows",
    type=click.IntRange(100, 100_000),
    default=674,
    show_default=True,
    help="Without a checkpoint: number of rows to generate for each source.",
)
@click.option(
    "--seed",
    type=int,
    default=7,
    show_default=True,
    help="Without a checkpoint: seed of the generated rows; the same seed gives the same rows.",
)
@click.option(
    "--fail-on",
    "closing",
    default=",".join(FAILING),
    show_default=True,
    callback=fail_on(ALL_OUTCOMES),
    metavar="LIST",
    help="Without a checkpoint: outcomes that fail the check (exit 1), as in `headgate diff`.",
)
@click.option(
    "--sample",
    multiple=True,
    metavar="[SOURCE=]FILE",
    help="Without a checkpoint: file with rows of a source (Spark: JSON lines, CSV or Parquet), or "
    "with records in the format of --records (Kafka Streams). Can be repeated.",
)
@click.option(
    "--sample-from",
    metavar="PIPELINE",
    help="Without a checkpoint: use the newest records of the input topics, read from the Kafka "
    "cluster of PIPELINE.",
)
@click.option(
    "--disagreements",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Without a checkpoint: write query plans, findings and the outcomes of rules and twin run "
    "to FILE, for a bug report.",
)
@streams_options
@format_option("markdown", "sarif", "junit")
def command(
    checkpoint: str | None,
    after: str,
    before: str | None,
    batch: str,
    batches: int,
    max_records: int,
    timeout: float,
    query: str | None,
    conf: dict[str, str],
    allow_source: tuple[str, ...],
    with_credentials: bool,
    scratch: Path | None,
    rows: int,
    seed: int,
    closing: frozenset[str],
    sample: tuple[str, ...],
    sample_from: str | None,
    disagreements: Path | None,
    output: str,
) -> int:
    """Run a new version on a copy of the checkpoint for one batch, and report what Spark does.

    With --state-dir: run a Kafka Streams application on a copy of its state directory and topics.

    With --before and without a checkpoint: run both versions on the same generated rows, and
    compare their state and output. Only --sample-from reads a cluster. For Kafka Streams, give
    --before-jar and --jar; --before defaults to the entry point of --after.

    Headgate only reads the original checkpoint. The sink is replaced, and foreachBatch functions
    aren't called.
    """
    if checkpoint is None:
        from headgate.usecases.rehearsal.twin_sample import SampleWish
        from headgate.usecases.rehearsal.twin_spark import TwinOptions

        wish = SampleWish(sample, sample_from) if sample or sample_from else None
        return rehearse_twin(
            str(before),
            after,
            TwinOptions(
                rows=rows,
                seed=seed,
                seconds=timeout,
                query=query,
                conf=conf,
                scratch=scratch,
                sample=wish,
            ),
            closing,
            output,
            disagreements,
        )
    from headgate.usecases.rehearsal.rehearse_spark import Options, rehearse

    found = rehearse(
        checkpoint,
        after,
        before=before,
        context=current_context(),
        options=Options(
            batch=batch,
            batches=batches,
            max_records=max_records,
            seconds=timeout,
            query=query,
            conf=conf,
            allow_sources=tuple(kind.lower() for kind in allow_source),
            with_credentials=with_credentials,
            scratch=scratch,
        ),
        say=say_started(),
    )
    if output == "json":
        from headgate.views.reports.rehearsal import rehearsal_json

        emit_json(rehearsal_json(found.report, found.engine, found.judged))
        return 0
    from headgate.views.reports.rehearsal_terminal import rehearsal_text

    text = rehearsal_text(found.report, found.engine, found.judged)
    print_rich(text)
    return 0
