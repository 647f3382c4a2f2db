"""The download menu of a comparison: what a pull request, a program or code scanning reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import streamlit as st

from headgate.rules.catalogue import all_rules
from headgate.rules.core.report import Report
from headgate.usecases.context import Context
from headgate.views.reports.comparison import comparison_document
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.formats import write_document

TITLES: Mapping[str, tuple[str, str, str]] = {
    "markdown": ("Markdown, for a pull request", "md", "text/markdown"),
    "json": ("JSON, for programs", "json", "application/json"),
    "sarif": ("SARIF, for code scanning", "sarif", "application/sarif+json"),
}
"""Title, ending and media type of each form."""


def report_exports(context: Context, report: Report, name: str) -> None:
    """Show the menu; each form is written when it is asked for, in the click's own request."""
    with st.popover("Report", help="Download this report", key="report_menu"):
        for form, (title, ending, media) in TITLES.items():
            st.download_button(
                title,
                data=_writer(context, report, form),
                file_name=f"{name}-comparison.{ending}",
                mime=media,
                key=f"report_{form}",
                on_click="ignore",
                type="tertiary",
                width="stretch",
            )


def _writer(context: Context, report: Report, form: str) -> Callable[[], str]:
    return lambda: write_report(report, form, context.registry.rules_url)


def write_report(report: Report, form: str, rules_url: str | None = None) -> str:
    """Return the report in one of the forms of `TITLES`, as `headgate diff` writes it."""
    if form == "json":
        return json.dumps(report_json(report), indent=2, ensure_ascii=False)
    reasons = {rule.code: rule.why for rule in all_rules()}
    return write_document(comparison_document(report, reasons=reasons), form, rules_url=rules_url)
