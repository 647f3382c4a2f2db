"""`headgate reset`: the options of Kafka's own reset tool, as a plan."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from headgate.cli.shared.options import current_context, format_option
from headgate.cli.shared.show_plan import show_plan
from headgate.reprocess.plan import Plan
from headgate.usecases.context import Context
from headgate.usecases.reprocess.plan_reset import plan_reset

_WORDS = ("execute", "dry_run", "detach", "output", "application_id", "config_file")


@click.command("reset")
@click.option(
    "--application-id", required=True, metavar="ID", help="Application id (application.id)."
)
@click.option(
    "--bootstrap-server",
    metavar="HOST:PORT,...",
    help="Kafka bootstrap servers (default: from headgate.toml, else localhost:9092).",
)
@click.option(
    "--command-config", metavar="FILE", help="Properties file for the connection to Kafka."
)
@click.option("--config-file", metavar="FILE", help="Old name of --command-config.")
@click.option(
    "--input-topics",
    multiple=True,
    metavar="TOPIC,...",
    help="Reset the offsets of these input topics (default: none, so no offset changes).",
)
@click.option(
    "--intermediate-topics",
    multiple=True,
    metavar="TOPIC,...",
    help="Topics that the application both writes and reads: reset their offsets to the latest.",
)
@click.option(
    "--internal-topics",
    multiple=True,
    metavar="TOPIC,...",
    help="Internal topics to delete (default: all that verifiably belong to the application).",
)
@click.option("--keep-internal", is_flag=True, help="Keep internal topics and local state.")
@click.option(
    "--back-up-internal",
    is_flag=True,
    help="Back up internal topics first, so that an undo can restore them.",
)
@click.option(
    "--topology",
    multiple=True,
    metavar="EVIDENCE",
    help="Evidence of the topology, to verify which topics belong to the application.",
)
@click.option("--to-offset", metavar="N", help="Reset offsets to this offset in all partitions.")
@click.option("--to-earliest", is_flag=True, help="Reset to the earliest offsets (the default).")
@click.option(
    "--to-latest", is_flag=True, help="Reset to the latest offsets; unread records are skipped."
)
@click.option(
    "--to-datetime", metavar="TIME", help="Reset offsets to the first record at or after this time."
)
@click.option(
    "--by-duration",
    metavar="DURATION",
    help="Reset offsets to the time DURATION before now, such as P1DT2H.",
)
@click.option("--shift-by", metavar="N", help="Shift offsets by N records; a negative N rewinds.")
@click.option(
    "--from-file", metavar="FILE", help="File of offsets, with rows TOPIC,PARTITION,OFFSET."
)
@click.option(
    "--to-offsets",
    multiple=True,
    metavar="TOPIC,PARTITION,OFFSET",
    help="Reset one partition to this offset; can be repeated.",
)
@click.option(
    "--no-record",
    metavar="end|leave",
    help=(
        "If a partition has no record at or after the time: reset to its latest offset (end), or "
        "keep its committed offset (leave). Default: the plan is blocked."
    ),
)
@click.option(
    "--past-retention",
    is_flag=True,
    help="If retention has deleted the requested records, start at the earliest remaining record.",
)
@click.option("--force", is_flag=True, help="Remove members of killed processes from the group.")
@click.option(
    "--local-state-cleared",
    multiple=True,
    metavar="INSTANCE",
    help="Instance, such as a host name, whose local state you deleted; can be repeated. Headgate "
    "can't verify this.",
)
@click.option("--execute", is_flag=True, help="Run the reset (default: only show the plan).")
@click.option("--dry-run", is_flag=True, help="Only show the plan (the default).")
@click.option(
    "--detach",
    is_flag=True,
    help="With --execute: queue the run, print its id and return.",
)
@format_option()
def command(**given: Any) -> int:
    """Reset a Kafka Streams application, registered or not.

    Accepts the options of kafka-streams-application-reset. Without --execute, the command only
    shows the plan and changes nothing. Exits 3 if the plan is blocked.
    """
    if given["execute"] and given["dry_run"]:
        raise click.UsageError("give only one of --execute and --dry-run")
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
        raise click.UsageError(
            "--config-file is the old name of --command-config: give only --command-config"
        )
    answers = {n: v for n, v in given.items() if n not in _WORDS and v not in (None, False, ())}
    if given["config_file"]:
        answers["command_config"] = given["config_file"]
    return {name: list(v) if isinstance(v, tuple) else v for name, v in answers.items()}


def _execute(context: Context, plan: Plan, *, output: str, detach: bool) -> int:
    # Imported here: a preview runs nothing, and does not wait for the store.
    from headgate.cli.shared.follow import blocked_json, queue_and_follow
    from headgate.gateway.process.system_user import system_user
    from headgate.usecases.runs.apply_plan import apply_plan

    return queue_and_follow(
        context,
        partial(apply_plan, plan=plan, by=system_user()),
        refused=partial(blocked_json, plan),
        output=output,
        detach=detach,
    )
