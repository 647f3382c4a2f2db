"""`headgate diff`: what a restart of a new version would do, and a gate for CI."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.rules.core.report import Outcome, Report

_WORDS = tuple(o.word for o in (Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN))
_ALL = (*_WORDS, "mixed", Outcome.NO_EFFECT.word)
_NEVER = "none"
_VERSION = re.compile(r"\d+\.\d+(?![^.\-])")


def _fail_on(_: click.Context, __: click.Parameter, value: str) -> frozenset[str]:
    words = frozenset(w.strip() for w in value.split(",") if w.strip())
    if words == {_NEVER}:
        return frozenset()
    if not words or words - set(_ALL):
        raise click.BadParameter(f"expected `none` or some of {', '.join(_ALL)}, comma-separated.")
    return words


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
    default=",".join(_WORDS),
    show_default=True,
    callback=_fail_on,
    metavar="LIST",
    help=f"Outcomes that fail the check (exit 1): {', '.join(_ALL)}; `none` never fails.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="KIND:OLD=NEW",
    help="Rename between the versions; can be repeated.",
)
@click.option(
    "--spark-version", callback=_spark_version, metavar="V", help="Spark version to judge for."
)
@click.option("--query", metavar="NAME|ID", help="Query to compare, if the evidence has several.")
@click.option(
    "--cluster",
    "ask_kafka",
    is_flag=True,
    help="Also judge by the current state of the configured Kafka cluster.",
)
@click.option(
    "--pipeline",
    metavar="NAME",
    help="Pipeline whose acceptances apply, if the evidence names none.",
)
@format_option("markdown", "sarif", "junit")
def command(
    before: tuple[str, ...],
    after: tuple[str, ...],
    fail_on: frozenset[str],
    rename: tuple[str, ...],
    spark_version: str | None,
    query: str | None,
    ask_kafka: bool,
    pipeline: str | None,
    output: str,
) -> int:
    """Compare two versions: say what a restart with the new one would do."""
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
    if output == "junit":
        from headgate.views.reports.comparison_junit import report_junit

        click.echo(report_junit(report, fail_on), nl=False)
    else:
        _show(report, output, after, context.registry.rules_url)
    return 1 if report.closes(fail_on) else 0


def _show(report: Report, output: str, after: Sequence[str], rules_url: str | None) -> None:
    """Write the report to stdout in the format that was asked for."""
    match output:
        case "json":
            from headgate.views.reports.comparison_json import report_json

            emit_json(report_json(report))
        case "sarif":
            click.echo(_sarif(report, after, rules_url))
        case "markdown":
            from headgate.views.reports.comparison_markdown import report_markdown

            click.echo(report_markdown(report, rules_url), nl=False)
        case _:
            from headgate.cli.shared.terminal import terminal_console
            from headgate.views.reports.comparison_terminal import report_text

            terminal_console(soft_wrap=True).print(report_text(report))


def _sarif(report: Report, after: Sequence[str], rules_url: str | None) -> str:
    from headgate.rules.catalogue import all_rules
    from headgate.usecases.compare.source_location import source_place
    from headgate.views.reports.comparison_sarif import SourcePlace, report_sarif

    found = source_place(after)
    data = report_sarif(
        report,
        reasons={r.code: r.why for r in all_rules()},
        place=SourcePlace(*found) if found else None,
        rules_url=rules_url,
    )
    return _json(data)


def _json(data: object) -> str:
    import json

    from headgate.text.tables import harmless_json

    return harmless_json(json.dumps(data, indent=2, ensure_ascii=False))
