"""`headgate capture`: save a version, in a file or in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headgate.cli.shared.options import (
    current_context,
    emit_json,
    format_option,
    progress_console,
    say_warnings,
)
from headgate.cli.shared.output_file import STDOUT, output_option, write_file
from headgate.cli.shared.terminal import say

if TYPE_CHECKING:
    from headgate.model.version import Version


@click.command("capture")
@click.argument("evidence", nargs=-1, required=True, metavar="EVIDENCE...|module:function")
@output_option("Version file to write; - is stdout.")
@click.option(
    "--pipeline",
    metavar="NAME",
    help="Store the version as a version of this pipeline (default: not stored).",
)
@click.option("--query", metavar="NAME|ID", help="Query to capture, if the evidence has several.")
@format_option()
def command(
    evidence: tuple[str, ...],
    file: str | None,
    pipeline: str | None,
    query: str | None,
    output: str,
) -> None:
    """Capture a version of a pipeline: to a file, into the store, or to stdout.

    EVIDENCE is a file, folder or address, such as explain text or a checkpoint.

    Headgate calls `module:function` as function(spark) in a separate process. No query starts,
    and no source is contacted.
    """
    from headgate.parse.evidence.version_file import dump
    from headgate.usecases.evidence import capture, capture_history

    context = current_context()
    version = capture.capture(evidence, context=context, query=query)
    say_warnings(version.warnings)
    stored = None
    if pipeline is not None and capture_history.is_history(version):
        history = capture_history.capture_history(
            evidence, pipeline=pipeline, context=context, query=query
        )
        version, stored = history.version, (history.number, history.is_new)
        _say_older(pipeline, history.added, history.number)
    elif pipeline is not None:
        stored = capture.store_version(version, pipeline=pipeline, context=context)
    if file is not None and file != STDOUT:
        write_file(file, dump(version))
    if file == STDOUT or (file is None and stored is None):
        # It is text: a terminal may get it, though it is bytes.
        click.echo(dump(version), nl=False)
    elif output == "json":
        emit_json(_captured_json(version, file, pipeline, stored))
    else:
        _say(version, file, pipeline, stored)


def _captured_json(
    version: Version, file: str | None, pipeline: str | None, stored: tuple[int, bool] | None
) -> dict[str, object]:
    from headgate.parse.evidence.version_file import fingerprint

    return {
        "name": version.name,
        "engine": version.engine,
        "captured_at": version.captured_at,
        "fingerprint": fingerprint(version),
        "file": file,
        "pipeline": pipeline,
        "number": stored[0] if stored else None,
        "new": stored[1] if stored else None,
        "evidence": [{"kind": e.kind, "path": e.path} for e in version.evidence],
        "warnings": list(version.warnings),
    }


def _say(
    version: Version, file: str | None, pipeline: str | None, stored: tuple[int, bool] | None
) -> None:
    from headgate.store.versions import summarise

    if stored is not None:
        number, is_new = stored
        known = "a new version" if is_new else "already stored"
        say(f"{pipeline}@{number}: {known}; {summarise(version)}")
    if file is not None:
        say(f"wrote {file}: {summarise(version)}")


def _say_older(pipeline: str, added: tuple[int, ...], newest: int) -> None:
    """Say on stderr which older versions an event log had."""
    older = [n for n in added if n != newest]
    if older:
        names = ", ".join(f"{pipeline}@{n}" for n in older)
        progress_console().print(
            f"also stored older versions: {names}", markup=False, soft_wrap=True
        )
