"""`headgate rehearse` without a checkpoint: both versions on the same generated rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.cli.shared.options import current_context, emit_json, say_begun
from headgate.cli.shared.terminal import show_document

if TYPE_CHECKING:
    from headgate.usecases.rehearsal.twin_spark import TwinOptions


def rehearse_twin(
    before: str, after: str, options: TwinOptions, closing: frozenset[str], output: str
) -> int:
    """Run both versions, print the report, and return the exit code of the check."""
    from headgate.usecases.rehearsal.twin_spark import run_twin

    context = current_context()
    found = run_twin(
        before,
        after,
        context=context,
        options=options,
        say=say_begun(),
    )
    if output == "json":
        from headgate.views.reports.twin import twin_json

        emit_json(twin_json(found.report, found.verdict, found.disagreements, found.versions))
    else:
        from headgate.views.reports.comparison import comparison_document
        from headgate.views.reports.twin import with_twin_section

        document = comparison_document(found.report, fail_on=closing)
        document = with_twin_section(document, found.verdict, found.disagreements)
        show_document(document, output, rules_url=context.registry.rules_url)
    return 1 if found.report.closes(closing) else 0
