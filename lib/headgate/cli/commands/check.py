"""`headgate check`: what will make a pipeline's next upgrade, reset or fail-over hurt."""

from __future__ import annotations

import re

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.rules.readiness.facts.report import ReadinessReport, Severity

_SEVERITIES = tuple(s.word for s in sorted(Severity, reverse=True))
_CODE = re.compile(r"RDY\d{3}")
_NEVER = "none"


def _fail_on(_: click.Context, __: click.Parameter, value: str | None) -> frozenset[str]:
    words = frozenset(w.strip() for w in (value or _NEVER).split(",") if w.strip())
    if words == {_NEVER}:
        return frozenset()
    if not words or any(w not in _SEVERITIES and not _is_rule(w) for w in words):
        raise click.BadParameter(
            f"expected `none`, or some of {', '.join(_SEVERITIES)} and codes of readiness rules "
            "(such as RDY001), comma-separated."
        )
    return words


def _is_rule(word: str) -> bool:
    if not _CODE.fullmatch(word):
        return False
    from headgate.rules.readiness.codes import RULES

    return any(rule.code == word for rule in RULES)


@click.command("check")
@click.argument("evidence", nargs=-1, required=True, metavar="EVIDENCE|PIPELINE...")
@click.option(
    "--fail-on",
    callback=_fail_on,
    metavar="LIST",
    help=f"Findings that fail the check (exit 1): {', '.join(_SEVERITIES)}, or codes of rules.",
)
@click.option("--query", metavar="NAME|ID", help="Query to check, if the evidence has several.")
@click.option(
    "--cluster/--no-cluster",
    "ask_kafka",
    default=None,
    help="Also read the configured Kafka cluster; always on for a registered pipeline.",
)
@format_option("markdown", "sarif", "junit")
def command(
    evidence: tuple[str, ...],
    fail_on: frozenset[str],
    query: str | None,
    ask_kafka: bool | None,
    output: str,
) -> int:
    """Find risks of a pipeline's next upgrade, reset or fail-over."""
    from headgate.usecases.check.check_readiness import check_readiness

    report = check_readiness(evidence, context=current_context(), query=query, ask_kafka=ask_kafka)
    _show(report, output, fail_on)
    return 1 if report.closes(fail_on) else 0


def _show(report: ReadinessReport, output: str, fail_on: frozenset[str]) -> None:
    """Write the report to stdout in the format that was asked for."""
    match output:
        case "json":
            from headgate.views.reports.readiness import readiness_json

            emit_json(readiness_json(report))
        case "sarif":
            from headgate.views.reports.readiness import readiness_sarif

            emit_json_as_is(readiness_sarif(report))
        case "junit":
            from headgate.views.reports.readiness import readiness_junit

            click.echo(readiness_junit(report, fail_on), nl=False)
        case "markdown":
            from headgate.views.reports.readiness import readiness_markdown

            click.echo(readiness_markdown(report), nl=False)
        case _:
            from headgate.cli.shared.terminal import terminal_console
            from headgate.views.reports.readiness_terminal import readiness_text

            terminal_console(soft_wrap=True).print(readiness_text(report))


def emit_json_as_is(data: object) -> None:
    """Print JSON of another schema than ours."""
    import json

    from headgate.text.tables import harmless_json

    click.echo(harmless_json(json.dumps(data, indent=2, ensure_ascii=False)))
