"""`headgate reset`: the options of Kafka's own reset tool, as a plan."""

from __future__ import annotations

from typing import Any

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.show_plan import show_plan
from headgate.errors import RefusedError
from headgate.reprocess.plan import Plan
from headgate.usecases.context import Context
from headgate.usecases.reprocess.plan_reset import plan_reset

_WORDS = ("execute", "dry_run", "detach", "output", "application_id", "config_file")


@click.command("reset")
@click.option("--application-id", required=True, metavar="ID", help="The application's id.")
@click.option(
    "--bootstrap-server",
    metavar="HOST:PORT,...",
    help="Where Kafka listens; else what headgate.toml says, else localhost:9092.",
)
@click.option("--command-config", metavar="FILE", help="Properties for the connection to Kafka.")
@click.option("--config-file", metavar="FILE", help="The old name of --command-config.")
@click.option("--input-topics", multiple=True, metavar="TOPIC,...", help="The topics it reads.")
@click.option(
    "--intermediate-topics",
    multiple=True,
    metavar="TOPIC,...",
    help="Topics that it writes and reads itself: they go to their end.",
)
@click.option(
    "--internal-topics",
    multiple=True,
    metavar="TOPIC,...",
    help="Delete exactly these internal topics; else all that are proven to be its own.",
)
@click.option("--keep-internal", is_flag=True, help="Leave internal topics and state alone.")
@click.option(
    "--back-up-internal", is_flag=True, help="Copy the state first: an undo brings it back."
)
@click.option(
    "--topology",
    multiple=True,
    metavar="EVIDENCE",
    help="Evidence of its topology, which proves what is its own.",
)
@click.option("--to-offset", metavar="N", help="All partitions to this offset.")
@click.option("--to-earliest", is_flag=True, help="To the beginning; the default.")
@click.option("--to-latest", is_flag=True, help="To the end: what waits is skipped.")
@click.option("--to-datetime", metavar="TIME", help="To the first record at or after this time.")
@click.option("--by-duration", metavar="DURATION", help="The same, for so long ago: P1DT2H.")
@click.option("--shift-by", metavar="N", help="By so many records, back (-) or on.")
@click.option("--from-file", metavar="FILE", help="A file with rows TOPIC,PARTITION,OFFSET.")
@click.option(
    "--to-offsets", multiple=True, metavar="TOPIC,PARTITION,OFFSET", help="Such a row; repeat it."
)
@click.option(
    "--no-record",
    metavar="end|leave",
    help="Where a partition has no record at or after the time: its end, or as it is.",
)
@click.option(
    "--past-retention",
    is_flag=True,
    help="Begin with what is left where retention may have taken records of that time.",
)
@click.option("--force", is_flag=True, help="Remove members that killed processes left behind.")
@click.option(
    "--local-state-cleared",
    multiple=True,
    metavar="INSTANCE",
    help="An instance whose local state you have cleared yourself, which nothing proves.",
)
@click.option("--execute", is_flag=True, help="Do it; without this nothing is changed.")
@click.option("--dry-run", is_flag=True, help="Only show the plan, as without --execute.")
@click.option("--detach", is_flag=True, help="With --execute: print the run and return at once.")
@format_option()
def command(**given: Any) -> int:
    """Reset a Kafka Streams application, which need not be registered.

    Takes the options of Kafka's own reset tool. Without --execute the plan is shown and nothing
    happens, to members of the group neither. Exits 3 where the plan may not be applied.
    """
    if given["execute"] and given["dry_run"]:
        raise click.UsageError("--execute and --dry-run exclude each other")
    if given["detach"] and not given["execute"]:
        raise click.UsageError("--detach needs --execute")
    context, application = current_context(), given["application_id"]
    plan = plan_reset(context, application, _answers(given), previewed=not given["execute"])
    if given["execute"]:
        return _execute(context, plan, output=given["output"], detach=given["detach"])
    show_plan(plan, output=given["output"])
    return 0 if plan.can_apply else 3


def _answers(given: dict[str, Any]) -> dict[str, Any]:
    """Return the answers that were given; a name of a file and its old name are one."""
    if given["command_config"] and given["config_file"]:
        raise click.UsageError("--config-file is the old name of --command-config: give one")
    answers = {n: v for n, v in given.items() if n not in _WORDS and v not in (None, False, ())}
    if given["config_file"]:
        answers["command_config"] = given["config_file"]
    return {name: list(v) if isinstance(v, tuple) else v for name, v in answers.items()}


def _execute(context: Context, plan: Plan, *, output: str, detach: bool) -> int:
    # Imported here: a preview runs nothing, and does not wait for the store.
    from headgate.cli.shared.follow import follow, refused_json
    from headgate.gateway.process.system_user import system_user
    from headgate.usecases.runs.apply_plan import apply_plan

    try:
        run = apply_plan(context, plan, by=system_user())
    except RefusedError as error:
        if output == "json":
            emit_json(refused_json(plan, str(error)))
        raise
    return follow(context, run, output=output, detach=detach)
