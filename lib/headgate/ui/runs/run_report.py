"""The report of a run on its page: its numbers as tiles, and a download for tickets."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from headgate.reprocess.run_report import NUMBERS, RunReport
from headgate.text.numbers import count, exact
from headgate.ui.shared import markup
from headgate.ui.shared.keys import RunsKey
from headgate.usecases.runs.read_report import report_of
from headgate.usecases.runs.read_run import RunDetail
from headgate.views.words.run_report import (
    ENDINGS,
    FORMS,
    WITHOUT_STARTUP,
    compared_words,
    rate_words,
    written_report,
)

_TITLES = {"json": "Download JSON", "markdown": "Download Markdown"}
_REMARKS = {
    "dropped_by_watermark": "older than the watermark",
    "failed": "not in the results",
    "late": "in the late batch",
}


def show_report(detail: RunDetail) -> None:
    """Show what the run has counted; nothing if it has counted nothing."""
    report = report_of(detail)
    if not report.has_numbers:
        return
    st.html(markup.section("Report") + markup.tiles(_tiles(report)))
    if report.compared:
        st.html(markup.facts([("Compared", compared_words(report.compared))]))
    if notes := [note for step in report.steps for note in step.notes]:
        st.html(markup.bullets(notes))
    with st.container(horizontal=True):
        for form, media in FORMS.items():
            st.download_button(
                _TITLES[form], data=written_report(report, form),
                file_name=f"report-{report.run}.{ENDINGS[form]}", mime=media,
                key=f"{RunsKey.REPORT}_{form}", icon=":material/download:", on_click="ignore",
            )  # fmt: skip


def _tiles(report: RunReport) -> Iterator[tuple[str, str, str]]:
    for name, number in report.totals.items():
        remark = _REMARKS.get(name, "")
        yield NUMBERS[name], count(number), remark or (exact(number) if number > 999 else "")
    if report.rate is not None:
        rate = rate_words(report.rate).removesuffix(WITHOUT_STARTUP)
        yield "Rate", rate, WITHOUT_STARTUP.removeprefix(", ")
