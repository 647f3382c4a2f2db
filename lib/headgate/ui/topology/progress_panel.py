"""How the batches of a query went: the newest numbers, and charts of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from headgate.errors import HeadgateError
from headgate.model.progress import BatchProgress
from headgate.model.version import Version
from headgate.text.numbers import (
    NONE,
    ago,
    as_records,
    count,
    duration,
    exact,
    plural,
    short_time,
    size,
)
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.given_evidence import Given
from headgate.ui.shared.read_in_background import is_small
from headgate.usecases.context import Context
from headgate.usecases.evidence.own_query import OwnQuery
from headgate.views.charts.newest_batch import Newest, newest_batch, rows
from headgate.views.charts.query_progress import MOST_RESTARTS, progress_figure
from headgate.views.charts.query_progress_series import (
    Chart,
    charts,
    event_time_lag,
    lag_by_topic,
    restarts,
)

if TYPE_CHECKING:
    from headgate.ui.topology.graph import Chosen

REFRESH = 15
"""Seconds between two reads of evidence that may grow."""


def newest_values(
    context: Context, pipeline: str | None, evidence: Given, version: Version
) -> Newest:
    """Return the newest values beside the nodes; none where reading would hold the graph up."""
    what, query = _evidence(context, pipeline, evidence)
    if not what or not is_small(what):
        return Newest()
    try:
        return newest_batch(version, cached_reads.progress(context, what, query))
    except HeadgateError:
        # The view of the progress says why; the graph has no use for it.
        return Newest()


def newest_report(
    context: Context, pipeline: str | None, evidence: Given, version: Version
) -> BatchProgress | None:
    """Return the newest batch that was reported; None where reading would hold the graph up."""
    what, query = _evidence(context, pipeline, evidence)
    if not what or not is_small(what):
        return None
    try:
        return next(reversed(cached_reads.progress(context, what, query)), None)
    except HeadgateError:
        return None


def _evidence(
    context: Context, pipeline: str | None, evidence: Given
) -> tuple[tuple[str, ...], str | OwnQuery | None]:
    """Return what reports batches, and which of its queries: what was put in, else the registry's.

    A stored version keeps the id that the query had then; a reset from scratch gave it another.
    """
    if pipeline is None or not evidence.evidence[0].startswith(f"{pipeline}@"):
        return evidence.evidence, evidence.query
    registered = context.registry.pipeline(pipeline)
    if registered is None:
        return (), None
    places = (*registered.evidence, *([registered.watch] if registered.watch else []))
    return places, cached_reads.own_query_of(context, registered) if places else None


@st.fragment(run_every=REFRESH)
def progress_view(context: Context, chosen: Chosen) -> None:
    """Show the newest numbers and the charts."""
    evidence, query = _evidence(context, chosen.pipeline, chosen.evidence)
    try:
        with st.spinner("Reading the batches", show_time=True):
            batches = cached_reads.progress(context, evidence, query) if evidence else ()
    except HeadgateError as error:
        show_problem(error)
        batches = ()
    made = charts(batches)
    if not made:
        _nothing(chosen)
        return
    again = restarts(batches)
    st.html(markup.tiles(_tiles(batches)))
    st.plotly_chart(
        progress_figure(made, again, dark=st.context.theme.type == "dark"),
        key="progress",
        config={"displayModeBar": False},
        alt=f"Charts of batches ({len(batches)}): {', '.join(c.title.lower() for c in made)}",
    )
    st.caption(_how(made, batches, len(again)))


def _nothing(chosen: Chosen) -> None:
    if chosen.version.streams is not None:
        st.html(
            markup.empty(
                "Kafka Streams has no batches",
                "This tab shows batches of Spark queries. The lag of an application's group is on "
                "the landscape.",
            )
        )
        return
    how = f", or set `evidence` of {chosen.pipeline} in headgate.toml" if chosen.pipeline else ""
    st.html(
        markup.empty(
            "No batch metrics for this query",
            "Query plans and checkpoints have no batch metrics. Choose + to add query progress as "
            f"JSON, an event log, or the folder that `headgate.watch` writes{how}.",
        )
    )


def _tiles(batches: Sequence[BatchProgress]) -> list[tuple[str, str, str]]:
    """Return name, value and note of the newest numbers."""
    last = batches[-1]
    arrived = [s.input_rows_per_second for s in last.sources if s.input_rows_per_second is not None]
    done = [s.processed_rows_per_second for s in last.sources
            if s.processed_rows_per_second is not None]  # fmt: skip
    state = [o.rows_total for o in last.operators if o.rows_total is not None]
    memory = [o.memory_bytes for o in last.operators if o.memory_bytes is not None]
    late = [o.rows_dropped_by_watermark for b in batches for o in b.operators
            if o.rows_dropped_by_watermark is not None]  # fmt: skip
    behind, lags = event_time_lag(last), lag_by_topic(last)
    made = [("Last batch", exact(last.batch), f"{short_time(last.at)} · {ago(last.at)}")]
    if last.duration_ms is not None:
        made.append(("Duration", f"{last.duration_ms / 1000:.3g} s", ""))
    if arrived or done:
        came, read = (f"{rows(sum(n))} rows/s" if n else NONE for n in (arrived, done))
        made.append(("Arrived", came, f"processed {read}"))
    if state:
        made.append(("State", _rows(sum(state)), size(sum(memory)) if memory else ""))
    if behind is not None:
        made.append(("Watermark", duration(int(behind * 1000)), "before the batch's start"))
    if lags:
        unread = int(sum(lags.values()))
        left = as_records(unread, count(unread))
        until = "up to the latest offsets at the batch's start"
        made.append(("Unread after this batch", left, until))
    if late:
        made.append(("Late rows", _rows(sum(late)), "dropped, sum of all batches"))
    return made


def _rows(number: int) -> str:
    return plural(number, "row", count(number))


def _how(made: Sequence[Chart], batches: Sequence[BatchProgress], restarted: int) -> str:
    """Say what is drawn, and what thinning left out."""
    said = [f"{plural(len(batches), 'batch', exact(len(batches)))}, times in UTC"]
    if restarted:
        shown = f", only the last {MOST_RESTARTS} are shown" if restarted > MOST_RESTARTS else ""
        times = "once" if restarted == 1 else f"{restarted} times"
        said.append(f"The query restarted {times} (dotted lines{shown})")
    if thin := next((c for c in made if c.is_thinned), None):
        said.append(
            f"Each chart shows about {exact(len(thin.at))} batches: those with the lowest and the "
            "highest value of each interval"
        )
    return ". ".join(said) + ". Drag over a chart to zoom all charts. Double-click to zoom out."
