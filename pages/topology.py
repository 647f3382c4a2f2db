"""One version of one pipeline: its graph, its batches and its history."""

from __future__ import annotations

from enum import StrEnum

import streamlit as st

from headgate.errors import HeadgateError
from headgate.store.rows import VersionRow
from headgate.text.numbers import plural
from headgate.ui.evidence.capture_form import capture_dialog, capture_form
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.canvas import focus_toggle, search
from headgate.ui.shared.choose_one import choose, switch
from headgate.ui.shared.choose_pipeline import (
    check_address,
    observed_last,
    pick_pipeline,
    version_label,
)
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.export_menu import version_exports
from headgate.ui.shared.given_evidence import GIVEN, Given, given
from headgate.ui.shared.keys import TopologyKey
from headgate.ui.shared.no_pipelines import no_pipelines
from headgate.ui.shared.page import open_page, title
from headgate.ui.topology.graph import Chosen, graph_view
from headgate.ui.topology.history import history_view
from headgate.ui.topology.progress_panel import progress_view
from headgate.usecases.context import Context
from headgate.usecases.schedules.list_schedules import has_worker

ADD = "Add evidence: paste a query plan, upload files or a folder, or enter an address"

NO_WORKER = "No worker is running. Start a worker with `headgate up`."


class View(StrEnum):
    """What the page shows of a version."""

    GRAPH = "graph"
    PROGRESS = "progress"
    HISTORY = "history"


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        show_problem(error)


@st.fragment
def _page(context: Context) -> None:
    check_address(context, TopologyKey.PIPELINE)
    head, pipelines, numbers, views, find, focus, download, add = st.columns(
        [1.5, 1.55, 2.2, 2.1, 1.3, 0.9, 0.5, 0.45], vertical_alignment="center"
    )
    with pipelines:
        pipeline = pick_pipeline(context, TopologyKey.PIPELINE)
    with add:
        if st.button("", key=TopologyKey.UPLOAD_OPEN, icon=":material/add:", help=ADD):
            capture_dialog(context, pipeline)
    rows = cached_reads.versions(context, pipeline) if pipeline else ()
    put_in = given(TopologyKey.GIVEN)
    if not rows and put_in is None:
        with head:
            title("Topology", pipeline or "")
        _nothing_yet(context, pipeline)
        return
    with numbers:
        number = _pick_version(rows, put_in)
    with views:
        view = switch(
            "View", list(View), key=TopologyKey.VIEW, usual=View.GRAPH, shown=str.capitalize
        )
    chosen = _chosen(context, pipeline, rows, number, put_in)
    with head:
        title("Topology", _summary(chosen))
    if view is View.HISTORY:
        history_view(context, chosen)
        return
    if view is View.PROGRESS:
        progress_view(context, chosen)
        return
    with find:
        query = search(TopologyKey.SEARCH)
    with focus:
        near = focus_toggle(TopologyKey.FOCUS)
    with download:
        version_exports(context, chosen.version, chosen.name)
    graph_view(context, chosen, query, near)


def _pick_version(rows: tuple[VersionRow, ...], put_in: Given | None) -> str:
    labels = {str(row.number): version_label(row) for row in rows}
    if put_in is not None:
        labels = {GIVEN: f"Not stored: {put_in.name()}", **labels}
    return choose(
        "Version",
        list(labels),
        key=TopologyKey.VERSION,
        usual=str(observed_last(rows).number) if rows else GIVEN,
        shown=labels.__getitem__,
    )


def _chosen(
    context: Context,
    pipeline: str | None,
    rows: tuple[VersionRow, ...],
    number: str,
    put_in: Given | None,
) -> Chosen:
    row = next((r for r in rows if str(r.number) == number), None)
    if row is not None and pipeline is not None:
        version = cached_reads.stored_version(context, pipeline, row.number)
        return Chosen(version, pipeline, pipeline, rows, row, Given((f"{pipeline}@{number}",)))
    assert put_in is not None
    version = cached_reads.version(context, put_in.evidence, put_in.query)
    return Chosen(version, version.name or "query", pipeline, rows, None, put_in)


def _summary(chosen: Chosen) -> str:
    return plural(len(chosen.version.topology.nodes), "node")


def _nothing_yet(context: Context, pipeline: str | None) -> None:
    if pipeline is None:
        no_pipelines(
            context,
            "To see a single query without headgate.toml, paste the output of `explain` below, or "
            "upload its evidence.",
        )
    else:
        st.html(
            markup.empty(
                f"No version of {pipeline} is stored yet",
                "Every minute, the worker reads the evidence in headgate.toml and stores new "
                "versions (Spark: after the first completed batch). Until then, paste or upload "
                "evidence.",
                *([] if has_worker(context) else [NO_WORKER]),
            )
        )
    _, middle, _ = st.columns([1, 2.2, 1])
    with middle:
        if pipeline and (
            problem := cached_reads.why_not_stored(context.registry.path, pipeline, context)
        ):
            show_problem(problem)
        capture_form(context, pipeline)


main()
