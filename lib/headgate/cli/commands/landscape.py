"""`headgate landscape`: all pipelines and the topics between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headgate.cli.shared.drawing import EXPORTS, render_text, theme_option
from headgate.cli.shared.options import current_context, format_option, json_text, say_warnings
from headgate.cli.shared.output_file import output_option, write_out
from headgate.errors import UnreachableError

if TYPE_CHECKING:
    from headgate.landscape.landscape import Landscape
    from headgate.model.cluster import Cluster
    from headgate.usecases.context import Context

EPILOG = """\b
SELECTOR selects nodes, with dbt's selector syntax. A space between selectors means union.
A comma without spaces means intersection:
  orders  orders*     pipelines, topics and groups with this name, or this name pattern
  +orders  orders+2   orders and everything upstream; orders and up to 2 steps downstream
  @orders             orders, everything downstream, and everything upstream of those nodes
  owner:payments  engine:spark  kind:state_store  pipeline:NAME  topic:NAME  group:NAME
  status:running  state:STATE
STATE is one of:
  unused      topics without consumers that no registered pipeline writes
  unread      topics without consumers that a registered pipeline writes
  unwritten   topics with consumers that no registered pipeline writes
  unowned     internal topics of no known pipeline
  undeclared  consumer groups of no registered pipeline
Names with spaces, commas, colons, quotes or * need quotes: 'topic:"a, b"'.
"""


@click.command("landscape", epilog=EPILOG)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="Selector of nodes to hide.")
@click.option("--path", "ends", nargs=2, metavar="FROM TO", help="Show the data flow from"
              " one node to another.")  # fmt: skip
@click.option("--downstream", "start", metavar="NODE", help="Show everything downstream of NODE.")
@click.option(
    "--level",
    type=click.Choice(["pipelines", "internals"]),
    default="pipelines",
    show_default=True,
    help="Detail of an export: only pipelines and topics (pipelines), or also operators and state "
    "stores (internals).",
)
@format_option(*EXPORTS)
@theme_option()
@output_option()
def command(
    selectors: tuple[str, ...],
    exclude: tuple[str, ...],
    ends: tuple[str, str] | None,
    start: str | None,
    level: str,
    output: str,
    theme: str,
    file: str | None,
) -> None:
    """Show all pipelines, the topics between them, consumer lag and unused resources."""
    from headgate.usecases.landscape.show_landscape import show_landscape

    if sum(map(bool, (selectors or exclude, ends, start))) > 1:
        raise click.UsageError("give only one of: selectors (or --exclude), --path, --downstream")
    context = current_context()
    landscape = show_landscape(context, _cluster(context))
    say_warnings(landscape.warnings)
    if ends or start:
        shown, said = _answer(landscape, ends, start, output, file)
    else:
        shown, said = _selected(landscape, selectors, exclude), None
    write_out(said or _written(context, shown, level, output, theme, file), file)


def _cluster(context: Context) -> Cluster | None:
    """Kafka as it is now; without it the landscape says so and continues."""
    from headgate.usecases.evidence.read_cluster import read_cluster

    if not context.registry.bootstrap_servers:
        return None
    try:
        return read_cluster(context)
    except UnreachableError as error:
        say_warnings([error])
        return None


def _selected(
    landscape: Landscape, selectors: tuple[str, ...], exclude: tuple[str, ...]
) -> Landscape:
    from headgate.landscape.search import part
    from headgate.landscape.selector import select

    if not selectors and not exclude:
        return landscape
    return part(landscape, select(landscape, " ".join(selectors), " ".join(exclude)))


def _answer(
    landscape: Landscape,
    ends: tuple[str, str] | None,
    start: str | None,
    output: str,
    file: str | None,
) -> tuple[Landscape, str | None]:
    """Return what to draw for a path or for what is downstream, and what to say of it."""
    from headgate.landscape import paths
    from headgate.landscape.search import part
    from headgate.landscape.selector import find
    from headgate.views.reports import landscape_json as as_json
    from headgate.views.reports import landscape_terminal

    if ends:
        path = paths.path_between(landscape, *(find(landscape, end) for end in ends))
        drawn = part(landscape, path.between or frozenset[str]().union(path.back))
        if output == "json":
            return drawn, json_text(as_json.path_json(path, *ends)) + "\n"
        said = landscape_terminal.path_text(path, *ends)
    else:
        assert start is not None
        starts = find(landscape, start)
        reach = paths.downstream(landscape, starts)
        drawn = part(landscape, starts | reach.nodes.keys())
        if output == "json":
            return drawn, json_text(as_json.reach_json(reach, start)) + "\n"
        said = landscape_terminal.reach_text(reach, start)
    return drawn, render_text(said, file) if output == "text" else None


def _written(
    context: Context, shown: Landscape, level: str, output: str, theme: str, file: str | None
) -> str | bytes:
    match output:
        case "text":
            from headgate.views.reports.landscape_terminal import landscape_text

            return render_text(landscape_text(shown), file)
        case "json":
            from headgate.views.reports.landscape_json import landscape_json

            return json_text(landscape_json(shown)) + "\n"
        case "openlineage":
            from headgate.usecases.landscape.export_lineage import export_lineage

            return export_lineage(context, [p.name for p in shown.pipelines])
        case _:
            from headgate.views.exports.exports import export_landscape
            from headgate.views.scene.landscape import Level

            return export_landscape(shown, output, level=Level(level), theme=theme)
