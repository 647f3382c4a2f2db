"""A click group that imports commands late and turns every error into an exit code."""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click

from headgate.cli.shared.terminal import guarded
from headgate.errors import HeadgateError, QueryChoiceError, next_step_of, with_next_step
from headgate.text.tables import terminal_safe

DEBUG = "HEADGATE_DEBUG"
_INTERRUPTED = 130
_BROKEN_PIPE = 141


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command lives (`module:attribute`) and its line in `headgate --help`."""

    target: str
    help: str


@dataclass(slots=True)
class Settings:
    """What the group knows of the command line: `ctx.obj` of every command."""

    config: str | None = None


class LazyGroup(click.Group):
    """A group whose `--help` and whose other commands cost no import of a command.

    Every command also takes `--config`, so that it may be before or after the command's name.
    A command may return its exit code, or call `ctx.exit`; None is 0.
    """

    def __init__(self, *args: Any, entries: Mapping[str, CommandEntry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = dict(entries)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name, in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of that name, None where there is none."""
        entry = self.entries.get(cmd_name)
        return _load(entry.target) if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write names and help from the table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run the command line and exit by the table of `exit_code`."""
        extra["standalone_mode"] = False
        # A closed stream is None to Python. Taking its number back keeps it from the next file.
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:
                setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):
            # A locale without a sign that we draw costs that sign, not the answer.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        with guarded():
            code = _guarded(lambda: super(LazyGroup, self).main(args, *rest, **extra))
        sys.exit(code)


def _load(target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    if not any("--config" in parameter.opts for parameter in command.params):
        command.params.append(config_option())
    return command


def config_option() -> click.Option:
    """Return the option that names the file of the pipelines; it sets `Settings.config`."""
    return click.Option(
        ["--config"],
        metavar="FILE",
        expose_value=False,
        callback=_remember_config,
        help="Configuration file (default: HEADGATE_CONFIG, else ./headgate.toml).",
    )


def _remember_config(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    settings = ctx.ensure_object(Settings)
    if value is not None:
        settings.config = value


def _guarded(run: Any) -> int:
    """Run and return the exit code; every error is printed here, on stderr."""
    try:
        result = run()
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        print("Interrupted.", file=sys.stderr)
        return _INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # No command exits by itself. Click and rich do where the reader of stdout is gone
        # (`| head`), and with 1, which would say that a check failed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _BROKEN_PIPE
    except HeadgateError as error:
        return _say(_message(error), error.exit_code)
    except Exception as error:
        reason = _message(error) or "no message"
        return _say(f"unexpected {type(error).__name__}: {reason}", 2, hint=True)
    return result if isinstance(result, int) else 0


def _message(error: Exception) -> str:
    """Return the message; names and paths in it may hold secrets, or what steers a terminal."""
    # Imported here: only what failed waits for it.
    from headgate.text.secrets import mask_text

    said = mask_text(str(error))
    if not isinstance(error, QueryChoiceError):
        return terminal_safe(mask_text(with_next_step(error)))
    head, *listed = said.split("\n")
    step = filter(None, [next_step_of(error)])
    return "\n".join((terminal_safe(head), *(f"  {terminal_safe(line)}" for line in listed), *step))


def _say(message: str, code: int, *, hint: bool = False) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exc()
    elif hint:
        message += f"\nSet {DEBUG}=1 for the traceback."
    print(f"Error: {message}", file=sys.stderr)
    return code
