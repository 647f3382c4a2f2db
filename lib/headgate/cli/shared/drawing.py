"""Options of commands that draw or export a graph: formats and theme."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headgate.cli.shared.output_file import STDOUT

if TYPE_CHECKING:
    from rich.console import RenderableType

F = TypeVar("F", bound=Callable[..., Any])
EXPORTS = ("mermaid", "dot", "graphml", "svg", "png", "openlineage")
WIDE = 1000
"""Columns of a table if the output isn't a terminal: names stay whole, so `grep` finds them."""


def theme_option() -> Callable[[F], F]:
    """Return `--theme`, for SVG and PNG."""
    return click.option(
        "--theme",
        type=click.Choice(["auto", "light", "dark"]),
        default="auto",
        show_default=True,
        help="Theme of an SVG or PNG. With auto, an SVG follows the viewer's setting, and a PNG is "
        "light.",
    )


def is_terminal(file: str | None) -> bool:
    """Whether what is written out is seen by a person at a terminal that takes emphasis."""
    return file in (None, STDOUT) and sys.stdout.isatty() and "NO_COLOR" not in os.environ


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
