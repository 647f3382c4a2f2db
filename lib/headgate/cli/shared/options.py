"""What commands share: `--format`, JSON on stdout, progress on stderr, the open context."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headgate.cli.shared.group import Settings
from headgate.text.tables import terminal_safe_json

if TYPE_CHECKING:
    from rich.console import Console

    from headgate.store.rows import RequestRow, RunFacts
from headgate.usecases.context import Context

F = TypeVar("F", bound=Callable[..., Any])
SCHEMA = 1
_NEVER = "none"


def format_option(*more: str) -> Callable[[F], F]:
    """Return the option `--format`: `text` (the default), `json`, and what `more` names.

    The command gets it as `output`, so that Python's `format` stays free.
    """
    return click.option(
        "--format",
        "output",
        type=click.Choice(["text", "json", *more]),
        default="text",
        show_default=True,
        help="Output format: text for people, JSON for programs.",
    )


def fail_on(
    words: Collection[str], is_code: Callable[[str], bool] | None = None, codes: str = ""
) -> Callable[[click.Context, click.Parameter, str | None], frozenset[str]]:
    """Return the callback of `--fail-on`: some of `words`, or `none`.

    `is_code` says whether a word is one of `codes`, which the message names.
    """

    def read(_: click.Context, __: click.Parameter, value: str | None) -> frozenset[str]:
        # An empty word is a mistake, such as a variable of a script that has no value.
        found = frozenset(w.strip() for w in (_NEVER if value is None else value).split(","))
        if found == {_NEVER}:
            return frozenset()
        if any(w not in words and not (is_code and is_code(w)) for w in found):
            listed = ", ".join([*words, *([codes] if codes else [])])
            raise click.BadParameter(f"expected `none`, or a comma-separated list of: {listed}.")
        return found

    return read


def emit_json(data: Mapping[str, Any]) -> None:
    """Print `data` as JSON on stdout, `"schema": 1` first; enums by value, paths as text."""
    click.echo(json_text(data))


def json_text(data: Mapping[str, Any]) -> str:
    """Return what `emit_json` prints, without the last line's end."""
    ordered = {"schema": SCHEMA, **{k: v for k, v in data.items() if k != "schema"}}
    return terminal_safe_json(json.dumps(ordered, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} can't be written as JSON")


def progress_console() -> Console:
    """Return a console on stderr, for progress and messages; stdout is only for results."""
    from headgate.cli.shared.terminal import terminal_console

    return terminal_console(err=True)


def say_started() -> Callable[[str], None]:
    """Return what writes each thing that a long command begins as a line on stderr."""
    console = progress_console()
    return lambda text: console.print(f"… {text}", markup=False, soft_wrap=True)


def say_warnings(warnings: Iterable[object]) -> None:
    """Write each as a line on stderr."""
    console = progress_console()
    for warning in warnings:
        console.print(f"warning: {warning}", markup=False, soft_wrap=True)


def current_context() -> Context:
    """Open the registry that `--config` (or its defaults) names; RegistryError has the line."""
    from headgate.usecases.context import open_context

    settings = click.get_current_context().find_object(Settings) or Settings()
    return open_context(settings.config)


def row_json(row: RunFacts | RequestRow, key: str = "run") -> dict[str, Any]:
    """Return one run or request of a list as JSON, without its plan; its id is below `key`."""
    kept = {k: v for k, v in asdict(row).items() if k not in ("id", "plan")}
    return {key: row.id, **kept, "resumes": row.resumes}
