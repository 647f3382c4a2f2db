"""`headgate up`: start the console, with --demo also a broker and demo pipelines."""

from __future__ import annotations

import os
from pathlib import Path

import click

from headgate.cli.shared.group import Settings
from headgate.cli.shared.terminal import say
from headgate.local.up import CONFIG, Request
from headgate.local.up import up as start


@click.command("up")
@click.option(
    "--demo",
    is_flag=True,
    help="Also start a Kafka broker and demo pipelines, reachable only from this machine.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Port of the console. [default: 8501, or a free port if 8501 is in use]",
)
@click.option(
    "--home",
    metavar="DIR",
    help="Folder for store, snapshots and logs. [default: .headgate beside headgate.toml, with "
    "--demo .headgate/demo]",
)
@click.pass_context
def command(ctx: click.Context, demo: bool, port: int | None, home: str | None) -> None:
    """Start the console and its worker; Ctrl-C stops everything that was started."""
    settings = ctx.find_object(Settings) or Settings()
    given = settings.config or os.environ.get(CONFIG) or "headgate.toml"
    config = Path(given) if Path(given).exists() or settings.config else None
    default = Path(".headgate/demo") if demo else (config or Path(given)).parent / ".headgate"
    folder = Path(home) if home else default
    start(Request(folder, demo=demo, port=port, config=None if demo else config), _say)


def _say(text: str) -> None:
    """Print a message of several lines."""
    for line in text.split("\n"):
        say(line)
