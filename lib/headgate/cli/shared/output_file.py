"""Files that a command writes: the option `-o`, and what is written where."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from headgate.text.private_files import open_private

F = TypeVar("F", bound=Callable[..., Any])
STDOUT = "-"


def output_option(
    help_text: str = "File to write; - is stdout.", metavar: str = "FILE"
) -> Callable[[F], F]:
    """Return `-o FILE`; the command gets it as `file`, None for stdout."""
    return click.option("-o", "--out", "file", metavar=metavar, help=help_text)


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
        raise click.BadParameter("the file name is empty.", param_hint=hint)
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
