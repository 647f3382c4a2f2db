"""`headgate compare-output A B --keys COLUMNS`: which rows of two outputs differ."""

from __future__ import annotations

import click

from headgate.cli.shared.options import current_context, emit_json, format_option, say_started
from headgate.cli.shared.terminal import say


@click.command("compare-output")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--keys",
    required=True,
    metavar="COLUMNS",
    help="Columns that identify a row, separated by commas, such as id,day.",
)
@click.option(
    "--tolerance",
    type=float,
    default=0.0,
    show_default=True,
    metavar="X",
    help="Absolute tolerance: numbers are equal if they differ by at most X.",
)
@click.option(
    "--ignore", default="", metavar="COLUMNS", help="Columns to leave out of the comparison."
)
@click.option(
    "--newest",
    is_flag=True,
    help="For a topic that a query writes in update mode: compare only the newest record per key.",
)
@format_option()
def command(
    a: str, b: str, keys: str, tolerance: float, ignore: str, newest: bool, output: str
) -> int:
    """Compare two outputs by key, and report missing, extra and different rows.

    A and B are a path, kafka:TOPIC[@FROM..TO] or jdbc:NAME.TABLE. A path is a file or folder
    (Parquet, ORC, JSON, CSV, text), a Delta table, or the folder of Spark's file sink. FROM and TO
    are each an offset for all partitions, a time, earliest or latest. NAME is a [jdbc.NAME] table
    in headgate.toml.

    Exits 1 if the outputs differ, 2 if they can't be compared, 4 if a server didn't respond.
    """
    from headgate.usecases.compare_output.compare_outputs import compare_outputs, compare_request

    wish = compare_request(
        a, b, keys.split(","), tolerance=tolerance, ignore=ignore.split(","), newest=newest
    )
    found = compare_outputs(wish, context=current_context(), say=say_started())
    if output == "json":
        from headgate.views.reports.output_comparison import comparison_json

        emit_json(comparison_json(found))
    else:
        from headgate.views.reports.output_comparison import comparison_lines

        for line in comparison_lines(found):
            say(line)
    return 0 if found.equal else 1
