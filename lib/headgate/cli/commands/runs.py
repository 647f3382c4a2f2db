"""`headgate runs [RUN]`: list the runs, or show one step by step; `headgate report RUN`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from headgate.cli.shared.options import current_context, emit_json, format_option, row_json
from headgate.cli.shared.terminal import say
from headgate.gateway.process.system_user import system_user
from headgate.text.numbers import size
from headgate.text.tables import Styles, table_lines
from headgate.usecases.activity.list_paused import read_paused
from headgate.usecases.context import Context
from headgate.usecases.runs.list_runs import list_runs
from headgate.views.words.run_columns import RUN_COLUMNS

if TYPE_CHECKING:
    from headgate.usecases.runs.clean_checkpoint_locations import Cleaned

PAGE = 50


@click.command("runs")
@click.argument("run", required=False)
@click.option("--follow", is_flag=True, help="Wait until RUN ends and its pipeline has caught up.")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=PAGE,
    show_default=True,
    help="Number of runs to list.",
)
@click.option(
    "--page",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="Page number; page 1 has the newest runs.",
)
@click.option(
    "--clean",
    is_flag=True,
    help="Remove snapshots that are older than keep_snapshots under [runs] in headgate.toml.",
)
@click.option("--dry-run", is_flag=True, help="With --clean: only list what would be removed.")
@format_option()
def command(
    run: str | None,
    follow: bool,
    limit: int,
    page: int,
    clean: bool,
    dry_run: bool,
    output: str,
) -> int:
    """List the runs, newest first, or show RUN step by step.

    --clean removes snapshots that are older than `keep_snapshots` under [runs] in headgate.toml.
    After that, the runs that made these snapshots can't be undone.
    """
    context = current_context()
    if dry_run and not clean:
        raise click.UsageError("--dry-run needs --clean")
    if clean:
        if run is not None or follow:
            raise click.UsageError("--clean checks all runs: leave out RUN and --follow")
        # Imported here: most calls only list.
        from headgate.usecases.runs.clean_runs import clean_runs

        _clean(clean_runs(context, by=system_user(), dry=dry_run), output, dry=dry_run)
        return 0
    if follow and run is None:
        raise click.UsageError("give the run to follow: headgate runs RUN --follow")
    if run is None:
        _list(context, output, limit=limit, page=page)
        return 0
    # Imported here: a list needs nothing of what a plan is made of.
    from headgate.cli.shared.show_run import follow_run, show_run
    from headgate.usecases.runs.read_run import read_run

    if follow:
        follow_run(context, run, output)
    else:
        show_run(read_run(context, run), output, context=context)
    return 0


@click.command("report")
@click.argument("run")
@format_option("markdown")
def report(run: str, output: str) -> int:
    """Print the report of RUN: records and rows by step, duration and rate.

    Only steps that process records with Spark have counts. Numbers that don't apply to the scenario
    are left out.
    """
    from headgate.usecases.runs.read_report import read_report
    from headgate.views.words.run_report import report_json, written_report

    found = read_report(current_context(), run)
    if output == "json":
        emit_json(report_json(found))
        return 0
    for line in written_report(found, output).splitlines():
        say(line)
    return 0


def _list(context: Context, output: str, *, limit: int, page: int) -> None:
    found = list_runs(context, limit=limit, offset=(page - 1) * limit)
    paused = read_paused(context)
    if output == "json":
        rows, now = [row_json(row) for row in found.rows], [asdict(p) for p in paused.values()]
        emit_json({"runs": rows, "total": found.total, "paused": now})
        return
    cells = [[column.text(row) for column in RUN_COLUMNS] for row in found.rows]
    if cells:
        for line in table_lines("", [c.heading for c in RUN_COLUMNS], cells, Styles()):
            say(line)
    elif not found.total:
        say(
            "No runs yet. Plan with `headgate plan`, and run the plan with `headgate apply`.",
            err=True,
        )
    if page * limit < found.total:
        more = f"`headgate runs --page {page + 1}` lists older runs."
        if limit != PAGE:
            more = f"`headgate runs --limit {limit} --page {page + 1}` lists older runs."
        say(f"{len(found.rows)} of {found.total} runs. {more}", err=True)
    for name, paused_now in paused.items():
        say(f"{name} is {paused_now.words}")


def _clean(cleaned: tuple[Cleaned, ...], output: str, *, dry: bool) -> None:
    if output == "json":
        emit_json({"removed": [asdict(c) for c in cleaned], "dry_run": dry})
        return
    for found in cleaned:
        say(f"{found.run}  {size(found.bytes)}  {found.path}")
    count = "1 folder or table" if len(cleaned) == 1 else f"{len(cleaned)} folders or tables"
    total = size(sum(c.bytes for c in cleaned))
    say(f"{count} to remove, {total}" if dry else f"{count} removed, {total}")
