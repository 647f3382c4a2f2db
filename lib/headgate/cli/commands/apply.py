"""`headgate apply PLAN`: queue a plan for a worker, and wait until the run ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from headgate.cli.shared.follow import queue_and_follow, refused_json
from headgate.cli.shared.options import current_context, format_option
from headgate.errors import NotFoundError
from headgate.gateway.process.system_user import system_user
from headgate.reprocess.plan import load_plan
from headgate.usecases.runs.apply_plan import apply_plan


@click.command("apply")
@click.argument("plan", metavar="PLAN")
@click.option("--detach", is_flag=True, help="Queue the run and return without waiting.")
@format_option()
def command(plan: str, detach: bool, output: str) -> int:
    """Apply the PLAN file that `headgate plan` wrote.

    Exits 0 if the run is done, 1 if the results that an ab plan compares differ, 2 if the file was
    changed by hand, 3 if the plan is blocked (nothing was changed), 5 if the run failed part-way.
    """
    context = current_context()
    loaded = load_plan(_read(Path(plan)), source=plan)
    return queue_and_follow(
        context,
        partial(apply_plan, plan=loaded, by=system_user()),
        refused=partial(refused_json, loaded),
        output=output,
        detach=detach,
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
