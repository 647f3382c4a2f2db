"""A document in the format that was chosen."""

from __future__ import annotations

import json

from headgate.text.tables import terminal_safe_json
from headgate.views.reports.document import Document, SourceLocation


def write_document(
    document: Document,
    form: str,
    *,
    location: SourceLocation | None = None,
    rules_url: str | None = None,
) -> str:
    """Return a report as `markdown`, `sarif` or `junit`; code scanning shows it at `location`.

    `rules_url` is the folder of the rules' pages.
    """
    # Each writer is imported when it is needed: a command pays for the one that it uses.
    match form:
        case "markdown":
            from headgate.views.reports.document_markdown import markdown_text

            return markdown_text(document, rules_url)
        case "sarif":
            from headgate.views.reports.document_sarif import sarif_data

            data = sarif_data(document, location=location, rules_url=rules_url)
            return terminal_safe_json(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"
        case "junit":
            from headgate.views.reports.document_junit import junit_text

            return junit_text(document)
    raise ValueError(f"unknown format {form}")
