"""`headgate gate`: check all pipelines that a working tree changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headgate.cli.commands.diff import ALL_OUTCOMES, FAILING
from headgate.cli.shared.group import Settings
from headgate.cli.shared.options import fail_on, format_option, json_text, say_started
from headgate.cli.shared.output_file import write_file
from headgate.cli.shared.terminal import show_document

if TYPE_CHECKING:
    from headgate.rules.compare.gated import GateReport


FORMATS = ("markdown", "sarif", "junit")


def _files(
    _: click.Context, __: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    """Return format and file; a folder that isn't there is said before Spark starts."""
    pairs = [text.partition("=") for text in given]
    for form, _sign, file in pairs:
        if form not in (*FORMATS, "json") or not file:
            known = ", ".join((*FORMATS, "json"))
            raise click.BadParameter(f"expected FORMAT=FILE. FORMAT is one of: {known}.")
        if not Path(file).absolute().parent.is_dir():
            raise click.BadParameter(f"the folder of {file} doesn't exist: create the folder.")
    return tuple((form, Path(file)) for form, _sign, file in pairs)


@click.command("gate")
@click.option(
    "--base",
    required=True,
    metavar="REV",
    help="Branch, tag or commit that the change will be merged into, such as origin/main.",
)
@click.option(
    "--twin",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="When to run both versions on the same generated rows (twin run): always, never, or only "
    "if a change affects state or the rules can't decide (auto).",
)
@click.option(
    "--base-jars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder with the Kafka Streams jars built from the base commit, if jars aren't committed. "
    "In the folder, Headgate looks for a jar under its path in the repository, then under its file "
    "name.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(5),
    default=300.0,
    show_default=True,
    help="Timeout in seconds of each function that Headgate captures and of each twin run (Spark), "
    "or of each start of an application (Kafka Streams).",
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
    "--write",
    "files",
    multiple=True,
    callback=_files,
    metavar="FORMAT=FILE",
    help="Also write the report to a file, as markdown, sarif, junit or json; can be repeated.",
)
@click.option(
    "--disagreements",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write query plans and findings of all pipelines whose twin run contradicts the rules to "
    "FILE, for a bug report.",
)
@format_option(*FORMATS)
def command(
    base: str,
    twin: str,
    base_jars: Path | None,
    timeout: float,
    closing: frozenset[str],
    files: tuple[tuple[str, Path], ...],
    disagreements: Path | None,
    output: str,
) -> int:
    """Check every registered pipeline that the working tree changes.

    Headgate compares each changed pipeline with its baseline (NAME.headgate.json), else with the
    running version in the store, else with the code of the base. Unchanged pipelines are skipped.
    """
    from headgate.usecases.gate.gate import GateOptions, gate
    from headgate.usecases.gate.run_twins import TwinChoice

    settings = click.get_current_context().find_object(Settings) or Settings()
    options = GateOptions(TwinChoice(twin), timeout, base_jars)
    report = gate(base, config=settings.config, options=options, say=say_started())
    for form, file in files:
        text = _written(report, form, closing, settings.config)
        write_file(str(file), text.encode(), option="--write")
    _write_disagreements(report, disagreements)
    if output == "text":
        from headgate.views.reports.gate import gate_document

        show_document(gate_document(report, fail_on=closing), output)
    else:
        click.echo(_written(report, output, closing, settings.config), nl=False)
    return 1 if report.closes(closing) else 0


def _write_disagreements(report: GateReport, file: Path | None) -> None:
    """Write the file for a bug report, or say how to get it."""
    if file is not None:
        from headgate.views.reports.disagreements import disagreements_of

        text = f"{json_text(disagreements_of(report))}\n"
        write_file(str(file), text.encode(), option="--disagreements")
    elif any(p.disagreements for p in report.pipelines):
        say_started()(
            "rules and engine disagree: for a bug report, run again with --disagreements FILE"
        )


def _written(report: GateReport, form: str, closing: frozenset[str], config: str | None) -> str:
    """Return the report in a format that isn't for a terminal."""
    from headgate.views.reports.gate import gate_document, gate_json

    if form == "json":
        return f"{json_text(gate_json(report))}\n"
    from headgate.usecases.context import read_context, unset_variables
    from headgate.views.reports.formats import write_document

    reasons = {}
    if form == "sarif":
        from headgate.rules.catalogue import all_rules

        reasons = {r.code: r.why for r in all_rules()}
    document = gate_document(report, fail_on=closing, reasons=reasons)
    rules_url = read_context(config, unset_variables()).registry.rules_url
    return write_document(document, form, rules_url=rules_url)
