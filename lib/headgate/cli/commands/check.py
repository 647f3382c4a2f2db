"""`headgate check`: find risks of a pipeline's next upgrade, reset or failover."""

from __future__ import annotations

import re

import click

from headgate.cli.shared.options import current_context, emit_json, fail_on, format_option
from headgate.cli.shared.terminal import show_document
from headgate.rules.readiness.facts.report import Severity

_SEVERITIES = tuple(s.word for s in sorted(Severity, reverse=True))
_CODE = re.compile(r"RDY\d{3}")


def _is_rule(word: str) -> bool:
    if not _CODE.fullmatch(word):
        return False
    from headgate.rules.readiness.codes import RULES

    return any(rule.code == word for rule in RULES)


@click.command("check")
@click.argument("evidence", nargs=-1, required=True, metavar="EVIDENCE|PIPELINE...")
@click.option(
    "--fail-on",
    "closing",
    callback=fail_on(_SEVERITIES, _is_rule, "codes of readiness rules such as RDY001"),
    metavar="LIST",
    help="Severities or rule codes that fail the check (exit 1): any of "
    f"{', '.join(_SEVERITIES)}, or codes such as RDY001, separated by commas. By default, the "
    "check never fails.",
)
@click.option("--query", metavar="NAME|ID", help="Query to check, if the evidence has several.")
@click.option(
    "--cluster/--no-cluster",
    "ask_kafka",
    default=None,
    help="Also read the configured Kafka cluster (default: only for a registered pipeline).",
)
@format_option("markdown", "sarif", "junit")
def command(
    evidence: tuple[str, ...],
    closing: frozenset[str],
    query: str | None,
    ask_kafka: bool | None,
    output: str,
) -> int:
    """Find risks of a pipeline's next upgrade, reset or failover.

    EVIDENCE is a file, folder or address, such as explain text or a checkpoint. PIPELINE is a
    registered pipeline (NAME, or NAME@3 for its version 3).
    """
    from headgate.usecases.check.check_readiness import check_readiness

    report = check_readiness(evidence, context=current_context(), query=query, ask_kafka=ask_kafka)
    if output == "json":
        from headgate.views.reports.readiness import readiness_json

        emit_json(readiness_json(report))
    else:
        from headgate.views.reports.readiness import readiness_document

        document = readiness_document(report, fail_on=closing)
        show_document(document, output, rules_url=current_context().registry.rules_url)
    return 1 if report.closes(closing) else 0
