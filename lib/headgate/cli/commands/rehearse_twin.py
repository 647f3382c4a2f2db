"""`headgate rehearse` without a checkpoint: both versions on the same generated rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.cli.shared.options import current_context, emit_json, say_started
from headgate.cli.shared.output_file import write_file
from headgate.cli.shared.terminal import show_document

if TYPE_CHECKING:
    from headgate.usecases.rehearsal.twin_kafka_streams import StreamsTwin
    from headgate.usecases.rehearsal.twin_spark import TwinOptions, TwinRun


def rehearse_twin(
    before: str,
    after: str,
    options: TwinOptions,
    closing: frozenset[str],
    output: str,
    disagreements: Path | None = None,
) -> int:
    """Run both versions, print the report, and return the exit code of the check."""
    from headgate.usecases.rehearsal.twin_spark import run_twin

    context = current_context()
    found = run_twin(before, after, context=context, options=options, say=say_started())
    return show_twin(found, closing, output, disagreements)


def show_twin(
    found: TwinRun | StreamsTwin, closing: frozenset[str], output: str, disagreements: Path | None
) -> int:
    """Print what both versions did, write the file for a bug report, and return the exit code."""
    from headgate.views.reports.twin import twin_json

    plain = twin_json(
        found.report, found.verdict, found.disagreements, found.versions, found.lowered
    )
    if disagreements is not None:
        from headgate.views.reports.disagreements import disagreement_file

        listed = disagreement_file(plain, found.plans, found.hints)
        text = json.dumps(listed, indent=1, ensure_ascii=False) + "\n"
        write_file(str(disagreements), text.encode(), option="--disagreements")
    if output == "json":
        emit_json(plain)
    else:
        from headgate.views.reports.comparison import comparison_document
        from headgate.views.reports.twin import with_twin_section

        document = comparison_document(found.report, fail_on=closing)
        document = with_twin_section(document, found.verdict, found.disagreements)
        show_document(document, output, rules_url=current_context().registry.rules_url)
    if found.disagreements and disagreements is None:
        say_started()(
            "rules and engine disagree: for a bug report, run again with --disagreements FILE"
        )
    return 1 if found.report.closes(closing) else 0
