"""Options of commands that draw or export a graph: formats, theme and output file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

F = TypeVar("F", bound=Callable[..., Any])
EXPORTS = ("mermaid", "dot", "graphml", "svg", "png", "openlineage")
_STDOUT = "-"
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


def output_option() -> Callable[[F], F]:
    """Return `-o FILE`; the command gets it as `file`, None for stdout."""
    return click.option("-o", "--out", "file", metavar="FILE", help="File to write; - is stdout.")


def is_terminal(file: str | None) -> bool:
    """Whether what is written out is seen by a person at a terminal that takes emphasis."""
    return file in (None, _STDOUT) and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def write_out(content: str | bytes, file: str | None) -> None:
    """Write to the file, else to stdout; a terminal gets no binary data."""
    if file not in (None, _STDOUT):
        try:
            Path(str(file)).write_bytes(_encoded(content))
        except OSError as error:
            raise click.FileError(str(file), error.strerror or str(error)) from error
    elif isinstance(content, str):
        click.echo(content, nl=False)
    elif sys.stdout.isatty():
        raise click.UsageError("a PNG can't be printed to a terminal: give a file with -o FILE")
    else:
        click.echo(content, nl=False)


def _encoded(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "replace")


def render_text(shown: RenderableType, file: str | None) -> str:
    """Return what rich would print: in colours where stdout is a terminal, plain in a file."""
    from headgate.cli.shared.terminal import terminal_console

    to_file = file not in (None, _STDOUT)
    plain = to_file or not sys.stdout.isatty()
    drawn = terminal_console(
        soft_wrap=True, no_color=True if to_file else None,
        force_terminal=False if to_file else None, width=WIDE if plain else None,
    )  # fmt: skip
    with drawn.capture() as captured:
        drawn.print(shown)
    return captured.get()
