"""`headgate apply PLAN`: queue a plan for a worker, and wait until the run ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from headgate.cli.shared.follow import blocked_json, queue_and_follow
from headgate.cli.shared.options import current_context, format_option
from headgate.cli.shared.terminal import is_interactive
from headgate.errors import NotFoundError, RefusedError
from headgate.gateway.process.system_user import system_user
from headgate.reprocess.plan import Plan, load_plan
from headgate.text.tables import terminal_safe
from headgate.usecases.runs.apply_plan import apply_plan


@click.command("apply")
@click.argument("plan", metavar="PLAN")
@click.option("--detach", is_flag=True, help="Queue the run and return without waiting.")
@click.option("--yes", is_flag=True, help="Start without a confirmation.")
@format_option()
def command(plan: str, detach: bool, yes: bool, output: str) -> int:
    """Apply the PLAN file that `headgate plan` wrote.

    If steps can't be undone, you must confirm the run. Scripts without a terminal needn't.

    Exits 0 if the run is done, 1 if the results that an ab plan compares differ, 2 if the file was
    changed by hand, 3 if the plan is blocked or not confirmed (nothing was changed), 5 if the run
    failed part-way.
    """
    context = current_context()
    loaded = load_plan(_read(Path(plan)), source=plan)
    if not yes and is_interactive():
        _confirm(loaded)
    return queue_and_follow(
        context,
        partial(apply_plan, plan=loaded, by=system_user()),
        refused=partial(blocked_json, loaded),
        output=output,
        detach=detach,
    )


def _confirm(plan: Plan) -> None:
    """Ask before steps that no undo rolls back; RefusedError if the answer is no."""
    # Imported here: a script isn't asked.
    from headgate.views.words.impact import no_undo_words

    said = no_undo_words(plan) if plan.can_apply else None
    if said and not click.confirm(f"{terminal_safe(said)} Start the run?", err=True):
        raise RefusedError(
            "the run wasn't confirmed, so it wasn't started. Nothing was changed. To start the "
            "run, apply the plan again and answer y, or pass --yes"
        )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise NotFoundError(
            f"{file} isn't a plan, because the file isn't UTF-8 text. Create the file with "
            "`headgate plan SCENARIO PIPELINE -o FILE`"
        ) from None
    except OSError as error:
        raise NotFoundError(
            f"plan file {file} can't be read: {error.strerror}. Check the path and its permissions"
        ) from error
