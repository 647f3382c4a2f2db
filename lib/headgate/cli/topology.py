"""`headgate topology`: the graph of one pipeline."""

from __future__ import annotations

import click

from headgate.cli.options import current_context, emit_json, format_option, progress_console
from headgate.model.version import Version


@click.command("topology")
@click.argument("evidence", nargs=-1, required=True)
@click.option("--query", metavar="NAME|ID", help="Which query, where the evidence holds several.")
@format_option("mermaid", "dot", "graphml")
def command(evidence: tuple[str, ...], query: str | None, output: str) -> None:
    """Show the graph of a pipeline: sources, operators, repartitions, state stores, sink."""
    from headgate.usecases.capture import capture

    version = capture(evidence, context=current_context(), query=query)
    _show(version, output)


def _show(version: Version, output: str) -> None:
    """Write the topology to stdout; warnings go to stderr, in JSON they are part of it."""
    match output:
        case "json":
            from headgate.views.topology_json import topology_json

            emit_json(topology_json(version))
        case "text":
            from rich.console import Console

            from headgate.views.topology_text import topology_text

            Console(highlight=False, soft_wrap=True).print(topology_text(version))
            _warn(version)
        case _:
            from headgate.views import topology_graph

            click.echo(topology_graph.WRITERS[output](version.topology), nl=False)
            _warn(version)


def _warn(version: Version) -> None:
    console = progress_console()
    for warning in version.warnings:
        console.print(f"warning: {warning}", markup=False, soft_wrap=True)
