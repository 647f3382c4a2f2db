"""`headgate undo RUN`: roll back a run."""

from __future__ import annotations

from functools import partial

import click

from headgate.cli.shared.follow import blocked_json, queue_and_follow
from headgate.cli.shared.options import current_context, format_option, progress_console
from headgate.cli.shared.show_plan import show_plan
from headgate.gateway.process.system_user import system_user
from headgate.usecases.runs.undo_run import plan_undo, undo_run
from headgate.views.reports.plan_outputs import output_lines


@click.command("undo")
@click.argument("run")
@click.option("--dry-run", is_flag=True, help="Only show the rollback plan.")
@click.option("--detach", is_flag=True, help="Queue the undo and return without waiting.")
@format_option()
def command(run: str, dry_run: bool, detach: bool, output: str) -> int:
    """Undo RUN: restore offsets and checkpoint to their state before the run.

    Exits 0 if the undo is done, 3 if the undo is blocked (nothing was changed), 5 if the undo
    failed part-way.
    """
    context = current_context()
    plan = plan_undo(context, run)
    if dry_run:
        show_plan(plan, output=output)
        return 0 if plan.can_apply else 3
    notes = [f"{name}: {sentence}" for name, sentence in output_lines(plan)]
    for note in (*notes, *(f"Note: {risk}." for risk in plan.risks)):
        progress_console().print(note, markup=False, soft_wrap=True)
    return queue_and_follow(
        context,
        partial(undo_run, run=run, by=system_user()),
        refused=partial(blocked_json, plan),
        output=output,
        detach=detach,
    )
