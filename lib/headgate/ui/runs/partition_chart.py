"""What a run has read of each Kafka partition, as a chart that moves while the run reads."""

from __future__ import annotations

import streamlit as st

from headgate.store.rows import StepDocument
from headgate.ui.shared import markup
from headgate.ui.shared.export_menu import theme
from headgate.ui.shared.keys import RunsKey
from headgate.usecases.runs.read_run import RunDetail
from headgate.views.charts.partition_progress import partitions_figure, reading_words


def newest_reading(detail: RunDetail) -> StepDocument | None:
    """Return the offsets of the step that reads, or was the last to read."""
    found = [one for one in detail.documents if one.name == "partitions" and one.document["parts"]]
    return max(found, key=lambda one: (one.attempt, one.position), default=None)


def show_partitions(detail: RunDetail) -> None:
    """Show the chart; nothing if no program reports what it reads by partition."""
    found = newest_reading(detail)
    if found is None:
        return
    parts, number = found.document["parts"], found.position + 1
    st.html(markup.section("Offsets by partition"))
    st.plotly_chart(
        partitions_figure(parts, theme()), key=f"{RunsKey.PARTITIONS}_{number}", width="stretch",
        config={"displayModeBar": False}, alt=f"Chart of step {number}: {reading_words(parts)}",
    )  # fmt: skip
    st.caption(f"Step {number}: {reading_words(parts)}.")
