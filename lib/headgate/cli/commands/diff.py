"""`headgate diff`: what a restart with a new version does, also as a check in CI."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from headgate.cli.shared.options import current_context, emit_json, fail_on, format_option
from headgate.cli.shared.terminal import show_document
from headgate.rules.core.report import Outcome, Report

FAILING = tuple(o.word for o in (Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN))
ALL_OUTCOMES = (*FAILING, "mixed", Outcome.NO_EFFECT.word)
_VERSION = re.compile(r"\d+\.\d+(?![^.\-])")


def _spark_version(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _VERSION.match(value):
        raise click.BadParameter(f"expected a version such as 4.0 or 3.5.8, found {value!r}.")
    return value


@click.command("diff")
@click.option(
    "--before",
    multiple=True,
    required=True,
    metavar="EVIDENCE",
    help="Evidence of the old version; can be repeated.",
)
@click.option(
    "--after",
    multiple=True,
    required=True,
    metavar="EVIDENCE",
    help="Evidence of the new version; can be repeated.",
)
@click.option(
    "--fail-on",
    "closing",
    default=",".join(FAILING),
    show_default=True,
    callback=fail_on(ALL_OUTCOMES),
    metavar="LIST",
    help=f"Outcomes that fail the check (exit 1): any of {', '.join(ALL_OUTCOMES)}, separated by "
    "commas. With `none`, the check never fails.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="KIND:OLD=NEW",
    help="Renamed source, store or operator, such as store:old=new; can be repeated.",
)
@click.option(
    "--spark-version",
    callback=_spark_version,
    metavar="V",
    help="Spark version that runs the query after the restart (default: the version in the "
    "evidence).",
)
@click.option("--query", metavar="NAME|ID", help="Query to compare, if the evidence has several.")
@click.option(
    "--cluster",
    "ask_kafka",
    is_flag=True,
    help="Also use the current state of the configured Kafka cluster.",
)
@click.option(
    "--pipeline",
    metavar="NAME",
    help="Pipeline whose [[accept]] entries in headgate.toml apply (default: the pipeline that the "
    "evidence names).",
)
@format_option("markdown", "sarif", "junit")
def command(
    before: tuple[str, ...],
    after: tuple[str, ...],
    closing: frozenset[str],
    rename: tuple[str, ...],
    spark_version: str | None,
    query: str | None,
    ask_kafka: bool,
    pipeline: str | None,
    output: str,
) -> int:
    """Compare two versions, and report what a restart with the new version does.

    EVIDENCE is a file, folder or address, such as explain text or a checkpoint; module:function; or
    a registered pipeline (NAME, or NAME@3 for its version 3).
    """
    from headgate.usecases.compare.compare_versions import compare_versions

    context = current_context()
    report = compare_versions(
        before,
        after,
        context=context,
        renames=rename,
        spark_version=spark_version,
        query=query,
        ask_kafka=ask_kafka,
        pipeline=pipeline,
    )
    if output == "json":
        from headgate.views.reports.comparison_json import report_json

        emit_json(report_json(report))
    else:
        _show(report, output, closing, after)
    return 1 if report.closes(closing) else 0


def _show(report: Report, output: str, closing: frozenset[str], after: Sequence[str]) -> None:
    """Print the report in the chosen format."""
    from headgate.views.reports.comparison import comparison_document
    from headgate.views.reports.document import SourceLocation

    reasons, location = {}, None
    if output == "sarif":
        from headgate.rules.catalogue import all_rules
        from headgate.usecases.compare.source_location import source_location

        reasons = {r.code: r.why for r in all_rules()}
        found = source_location(after)
        location = SourceLocation(*found) if found else None
    document = comparison_document(report, fail_on=closing, reasons=reasons)
    show_document(
        document, output, location=location, rules_url=current_context().registry.rules_url
    )
