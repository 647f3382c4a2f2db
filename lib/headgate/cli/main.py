"""The command `headgate`: the table of its commands."""

from __future__ import annotations

import gc

import click

from headgate import __version__
from headgate.cli.shared.group import CommandEntry, LazyGroup, Settings, config_option

COMMANDS = {
    "topology": CommandEntry(
        "headgate.cli.commands.topology:command", "Show the graph of a pipeline."
    ),
    "landscape": CommandEntry(
        "headgate.cli.commands.landscape:command", "Show all pipelines and their topics."
    ),
    "capture": CommandEntry(
        "headgate.cli.commands.capture:command",
        "Save a pipeline's version to a file or to Headgate's store.",
    ),
    "diff": CommandEntry(
        "headgate.cli.commands.diff:command", "Compare two versions: what does a restart do?"
    ),
    "gate": CommandEntry(
        "headgate.cli.commands.gate:command", "Check all pipelines that a pull request changes."
    ),
    "check": CommandEntry(
        "headgate.cli.commands.check:command", "Find risks of the next upgrade or reset."
    ),
    "rehearse": CommandEntry(
        "headgate.cli.commands.rehearse:command", "Test a restart on a copied checkpoint."
    ),
    "compare-output": CommandEntry(
        "headgate.cli.commands.compare_output:command", "Compare the rows of two outputs."
    ),
    "schemas": CommandEntry(
        "headgate.cli.commands.schemas:command", "Check the schema and the consumers of a topic."
    ),
    "plan": CommandEntry(
        "headgate.cli.commands.plan:command", "Plan a reset or reprocessing; nothing is changed."
    ),
    "estimate": CommandEntry(
        "headgate.cli.commands.estimate:command", "Estimate the cost of a plan."
    ),
    "batches": CommandEntry(
        "headgate.cli.commands.batches:command", "List the batches that a query can rewind to."
    ),
    "restore-points": CommandEntry(
        "headgate.cli.commands.restore_points:command",
        "List, create, verify or delete restore points.",
    ),
    "schedules": CommandEntry(
        "headgate.cli.commands.schedules:command", "List, pause or resume schedules."
    ),
    "apply": CommandEntry("headgate.cli.commands.apply:command", "Apply a plan."),
    "undo": CommandEntry("headgate.cli.commands.undo:command", "Undo a run."),
    "resume": CommandEntry(
        "headgate.cli.commands.resume:command", "Resume a run that stopped part-way."
    ),
    "reset": CommandEntry(
        "headgate.cli.commands.reset:command", "Plan or run a reset of a Kafka Streams application."
    ),
    "request": CommandEntry(
        "headgate.cli.commands.request:command", "Request a run that somebody else approves."
    ),
    "requests": CommandEntry(
        "headgate.cli.commands.requests:command", "List the requests, or show one request."
    ),
    "approve": CommandEntry(
        "headgate.cli.commands.approve:command", "Approve a request and run its plan."
    ),
    "decline": CommandEntry("headgate.cli.commands.decline:command", "Decline a request."),
    "confirm": CommandEntry("headgate.cli.commands.confirm:command", "Confirm a manual step."),
    "cancel": CommandEntry(
        "headgate.cli.commands.cancel:command", "Stop a run, or cancel a request."
    ),
    "runs": CommandEntry("headgate.cli.commands.runs:command", "List the runs, or show one run."),
    "report": CommandEntry(
        "headgate.cli.commands.runs:report", "Print the report of a run: records, rows, duration."
    ),
    "doctor": CommandEntry(
        "headgate.cli.commands.doctor:command", "Check the installation and configuration."
    ),
    "up": CommandEntry("headgate.cli.commands.up:command", "Start the console and its worker."),
}


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    params=[config_option()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="headgate")
@click.pass_context
def headgate(ctx: click.Context) -> None:
    """Show streaming pipelines, check upgrades, and plan and run resets and reprocessing.

    Exit codes: 0 done, 1 check failed, 2 wrong command line or file, 3 blocked, 4 unreachable,
    5 run failed part-way.
    """
    ctx.ensure_object(Settings)


# Of new objects, before Python looks for cycles: a command makes many and keeps nearly all. With
# Python's 700 a fifteenth of the time of a plan went into looking.
_NEW_OBJECTS = 50_000


def main() -> None:
    """Run the command line; this is the console script."""
    gc.set_threshold(_NEW_OBJECTS)
    try:
        headgate.main(prog_name="headgate")
    finally:
        # Nor need the end look through all of them: that took a tenth of the time of a plan.
        gc.freeze()


if __name__ == "__main__":
    main()
