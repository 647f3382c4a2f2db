"""Options of commands that draw or export a graph: formats, theme and output file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headgate.text.private_files import open_private

if TYPE_CHECKING:
    from rich.console import RenderableType

F = TypeVar("F", bound=Callable[..., Any])
EXPORTS = ("mermaid", "dot", "graphml", "svg", "png", "openlineage")
STDOUT = "-"
WIDE = 1000
"""Columns of a table if the output isn't a terminal: names stay whole, so `grep` finds them."""


def theme_option() -> Callable[[F], F]:
    """Return `--theme`, for SVG and PNG."""
    return click.option(
        "--theme",
        type=click.Choice(["auto", "light", "dark"]),
        default="auto",
        show_default=True,
        help="Theme of an SVG; auto follows the viewer's setting. A PNG is always light.",
    )


def output_option(
    help_text: str = "File to write; - is stdout.", metavar: str = "FILE"
) -> Callable[[F], F]:
    """Return `-o FILE`; the command gets it as `file`, None for stdout."""
    return click.option("-o", "--out", "file", metavar=metavar, help=help_text)


def is_terminal(file: str | None) -> bool:
    """Whether what is written out is seen by a person at a terminal that takes emphasis."""
    return file in (None, STDOUT) and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def write_out(content: str | bytes, file: str | None) -> None:
    """Write to the file, else to stdout; a terminal gets no binary data."""
    if file is not None and file != STDOUT:
        write_file(file, _encoded(content))
    elif isinstance(content, str):
        click.echo(content, nl=False)
    elif sys.stdout.isatty():
        raise click.UsageError("a PNG can't be printed to a terminal: give a file with -o FILE")
    else:
        click.echo(content, nl=False)


def write_file(file: str, content: bytes, *, option: str = "-o", is_private: bool = False) -> None:
    """Write the file of an option as a whole or not at all; a device or pipe is written to.

    Others may not read a file that `is_private`. Raises click.BadParameter if it can't be written.
    """
    hint = f"'{option}'"
    if not file:
        raise click.BadParameter("expected the name of a file, found none.", param_hint=hint)
    path = Path(os.path.realpath(file))
    part = path.with_name(f".{os.getpid()}.part")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        with open_private(part, "wb") if is_private else part.open("wb") as opened:
            opened.write(content)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        reason = error.strerror or str(error)
        raise click.BadParameter(f"{file} can't be written: {reason}.", param_hint=hint) from error


def _encoded(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "replace")


def render_text(shown: RenderableType, file: str | None) -> str:
    """Return what rich would print: in colours where stdout is a terminal, plain in a file."""
    from headgate.cli.shared.terminal import terminal_console

    to_file = file not in (None, STDOUT)
    plain = to_file or not sys.stdout.isatty()
    drawn = terminal_console(
        soft_wrap=True, no_color=True if to_file else None,
        force_terminal=False if to_file else None, width=WIDE if plain else None,
    )  # fmt: skip
    with drawn.capture() as captured:
        drawn.print(shown)
    return captured.get()
