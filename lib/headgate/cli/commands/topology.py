"""`headgate topology`: the graph of one pipeline."""

from __future__ import annotations

import click

from headgate.cli.shared.drawing import EXPORTS, is_terminal, theme_option
from headgate.cli.shared.options import current_context, format_option, json_text
from headgate.cli.shared.output_file import output_option, write_out
from headgate.cli.shared.terminal import say
from headgate.model.version import Version


@click.command("topology")
@click.argument("evidence", nargs=-1, required=True)
@click.option("--query", metavar="NAME|ID", help="Query to show, if the evidence has several.")
@format_option(*EXPORTS)
@theme_option()
@output_option()
def command(
    evidence: tuple[str, ...], query: str | None, output: str, theme: str, file: str | None
) -> None:
    """Show the graph of a pipeline: sources, operators, repartitions, state stores, sink.

    EVIDENCE is a file, folder or address, such as explain text or a checkpoint; module:function; or
    a registered pipeline (NAME, or NAME@3 for its version 3).
    """
    from headgate.usecases.evidence.capture import capture

    context = current_context()
    version = capture(evidence, context=context, query=query, is_kept=False)
    bootstrap = context.registry.bootstrap_servers
    _show(version, output, theme=theme, file=file, bootstrap=bootstrap)


def _show(
    version: Version, output: str, *, theme: str, file: str | None, bootstrap: str | None
) -> None:
    """Write the topology to stdout; warnings go to stderr, in JSON they are part of it."""
    match output:
        case "json":
            from headgate.views.reports.topology import topology_json

            write_out(json_text(topology_json(version)) + "\n", file)
        case "text":
            from headgate.views.reports.topology import topology_text

            write_out(topology_text(version, styled=is_terminal(file)), file)
            _warn(version)
        case _:
            from headgate.views.exports.exports import export_version

            write_out(export_version(version, output, theme=theme, bootstrap=bootstrap), file)
            _warn(version)


def _warn(version: Version) -> None:
    for warning in version.warnings:
        say(f"warning: {warning}", err=True)
