"""`headgate schemas`: a topic's schema, and what a new schema does to its consumers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from headgate.cli.shared.group import config_option
from headgate.cli.shared.options import (
    current_context,
    emit_json,
    fail_on,
    format_option,
    say_warnings,
)
from headgate.cli.shared.terminal import print_rich, say, show_document

if TYPE_CHECKING:
    from headgate.model.topic_schema import Mode
    from headgate.rules.topic_schemas.facts.report import SchemaCheck, ShownTopic

F = TypeVar("F", bound=Callable[..., Any])
MODES = (
    *("backward", "forward", "full"),
    *("backward_transitive", "forward_transitive", "full_transitive", "none"),
)
EFFECTS = ("incompatible", "silently_wrong", "unknown")


def _files(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for item in value:
        topic, mark, file = item.partition("=")
        if not (topic and mark and file):
            raise click.BadParameter(f"expected TOPIC=FILE, found {item!r}.")
        found[topic] = file
    return found


def _mode(_: click.Context, __: click.Parameter, value: str | None) -> Mode | None:
    from headgate.model.topic_schema import Mode

    return None if value is None else Mode(value)


_key = click.option(
    "--key", "is_key", is_flag=True, help="Use the key schema (default: the value schema)."
)
_subject = click.option("--subject", metavar="NAME",
                        help="Subject in the registry (default: the subject in headgate.toml, else "
                        "TOPIC-value, or TOPIC-key with --key).")  # fmt: skip
_schema = click.option("--schema", "files", multiple=True, callback=_files, metavar="TOPIC=FILE",
                       help="Schema file to use for TOPIC instead of the registry; can be "
                       "repeated.")  # fmt: skip
_fail = click.option(
    "--fail-on",
    "closing",
    default=",".join(EFFECTS),
    show_default=True,
    metavar="LIST",
    callback=fail_on(EFFECTS),
    help=f"Effects that fail the check (exit 1): any of {', '.join(EFFECTS)}, separated by commas. "
    "With `none`, the check never fails.",
)


def _mode_option(shown: str) -> Callable[[F], F]:
    choice = click.Choice(MODES, case_sensitive=False)
    return click.option(
        "--mode", type=choice, callback=_mode, help=f"Compatibility mode ({shown})."
    )


@click.group("schemas")
def command() -> None:
    """Show a topic's schema, and check what a new schema does to its consumers."""


@command.command("show")
@click.argument("topic")
@_key
@_subject
@_schema
@format_option()
def show(topic: str, is_key: bool, subject: str | None, files: dict[str, str], output: str) -> None:
    """Show a topic's fields, versions, compatibility level and consumers."""
    from headgate.usecases.check.check_schemas import show_topic_schema

    shown = show_topic_schema(current_context(), topic, is_key=is_key, subject=subject, files=files)
    if output == "json":
        from headgate.views.reports.topic_schemas_json import shown_json

        emit_json(shown_json(shown))
    else:
        say_warnings(shown.schemas.warnings)
        _show_text(shown)


@command.command("check")
@click.argument("topic")
@click.option(
    "--new", metavar="FILE", help="File of the new schema (default: the file in headgate.toml)."
)
@_mode_option("default: the registry's compatibility level, else backward")
@_key
@_subject
@_schema
@_fail
@format_option("markdown", "sarif", "junit")
def check(
    topic: str,
    new: str | None,
    mode: Mode | None,
    is_key: bool,
    subject: str | None,
    files: dict[str, str],
    closing: frozenset[str],
    output: str,
) -> int:
    """Compare a new schema with a topic's versions, and find pipelines that read removed fields."""
    from headgate.usecases.check.check_schemas import check_topic_schema

    found = check_topic_schema(
        current_context(), topic, new, mode=mode, is_key=is_key, subject=subject, files=files
    )
    return _closed(found, output, closing)


@command.command("diff")
@click.option("--before", multiple=True, required=True, metavar="FILE",
              help="File of an older schema; can be repeated, oldest first.")  # fmt: skip
@click.option("--after", required=True, metavar="FILE", help="File of the new schema.")
@_mode_option("default: backward")
@_fail
@format_option("markdown", "sarif", "junit")
def diff(
    before: tuple[str, ...], after: str, mode: Mode | None, closing: frozenset[str], output: str
) -> int:
    """Compare schemas in files, without a registry or headgate.toml."""
    from headgate.model.topic_schema import Mode
    from headgate.usecases.check.check_schemas import diff_schemas

    return _closed(diff_schemas(before, after, mode or Mode.BACKWARD), output, closing)


def _closed(found: SchemaCheck, output: str, closing: frozenset[str]) -> int:
    """Show the report; return the exit code."""
    if output == "json":
        from headgate.views.reports.topic_schemas_json import check_json

        emit_json(check_json(found))
    else:
        from headgate.views.reports.topic_schemas import schemas_document

        show_document(schemas_document(found.report, fail_on=closing), output)
        if output == "text":
            _print_consumers(found)
    return 1 if found.report.closes(closing) else 0


def _print_consumers(found: SchemaCheck) -> None:
    for field in found.readers:
        lines = [f"{r.certainty.value:9} {r.sentence}" for r in field.reads]
        lines += [f"downstream pipeline {b.pipeline} reads {b.topic}" for b in field.behind]
        if lines:
            say(f"\nConsumers of {field.path}")
            for line in lines:
                say(f"  {line}")


def _show_text(shown: ShownTopic) -> None:
    from headgate.views.reports.topic_schemas import use_line
    from headgate.views.reports.topic_schemas_terminal import fields_table

    found = shown.schemas
    numbers = [str(v.version) for v in found.versions if v.version is not None]
    say(f"{found.topic} {found.column}: {shown.newest.format.value.lower()}")
    say(f"  subject        {found.subject}")
    if numbers:
        say(f"  versions       {', '.join(numbers)}")
    if found.mode:
        say(f"  compatibility  {found.mode.value}")
    say()
    print_rich(fields_table(shown.newest.fields))
    say("\nRead by")
    uses = [use_line(u) for u in shown.uses] or ["no registered pipeline"]
    for line in uses:
        say(f"  {line}")


for _command in command.commands.values():
    _command.params.append(config_option())
