"""Two versions of a pipeline: what a restart of the new version on the old state does."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from headgate.errors import HeadgateError, RenameError
from headgate.ui.compare.finding_card import engine_words
from headgate.ui.compare.panel import compare_panel
from headgate.ui.compare.rename_form import forget_rename, renames
from headgate.ui.compare.two_versions import (
    ask_side,
    given_line,
    pick_side,
    side_evidence,
    usual_sides,
)
from headgate.ui.rehearsal.panel import rehearsal_panel
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.canvas import Beside, canvas_and_panel, closed_boxes, search
from headgate.ui.shared.choose_one import switch
from headgate.ui.shared.choose_pipeline import check_address, pick_pipeline
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.given_evidence import GIVEN, Given
from headgate.ui.shared.graph.component import room
from headgate.ui.shared.keys import CompareKey, TopologyKey
from headgate.ui.shared.page import open_page, title
from headgate.usecases.context import Context
from headgate.views.reports.verdict_line import verdict
from headgate.views.scene.comparison import Side, one_side, sketch_comparison
from headgate.views.scene.compose import has_changed, placed
from headgate.views.scene.folded import boxed
from headgate.views.scene.scene import Lens
from headgate.views.scene.topology import sketch_topology

_LOWER = 116.0
"""Pixels by which the canvas is shorter than on the Topology page, for verdict and rehearsal."""
OLD, NEW = "Before: the version that runs", "After: the version to deploy"


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        show_problem(error)


@st.fragment
def _page(context: Context) -> None:
    check_address(context, CompareKey.PIPELINE)
    head, pipelines, old, new, sides, find, only = st.columns(
        [0.9, 1.5, 2.15, 2.15, 1.75, 1.25, 1.25], vertical_alignment="center", gap="xsmall"
    )
    with head:
        title("Compare")
    with pipelines:
        pipeline = pick_pipeline(context, CompareKey.PIPELINE)
    rows = cached_reads.versions(context, pipeline) if pipeline else ()
    usual = usual_sides(rows)
    with old:
        before = pick_side("Before", rows, CompareKey.BEFORE, usual[0])
    with new:
        after = pick_side("After", rows, CompareKey.AFTER, usual[1])
    with sides:
        side = switch(
            "Show", list(Side), key=CompareKey.SIDE, usual=Side.BOTH, shown=str.capitalize
        )
    with find:
        query = search(CompareKey.SEARCH)
    with only:
        only_changes = st.toggle("Only changes", key=CompareKey.ONLY, bind="query-params")
    one = side_evidence(pipeline, before, CompareKey.BEFORE_GIVEN)
    other = side_evidence(pipeline, after, CompareKey.AFTER_GIVEN)
    runs = deployed = None
    if one is None or other is None:
        _ask(context, pipeline, one, other)
    else:
        if GIVEN in (before, after):
            _given(before, after, one, other)
        look = ComparisonView(context, pipeline, side, query, only_changes)
        found = _compared(context, one, other)
        runs, deployed = found.before, found.after
        _show(look, found, f"{one} {other}")
    with st.container(key="rehearsal"):
        rehearsal_panel(context, pipeline, runs, deployed)


def _compared(context: Context, one: Given, other: Given) -> cached_reads.Comparison:
    """Compare, as if nothing was renamed where a rename that the address names is none."""
    with st.spinner("Comparing", show_time=True):
        try:
            return cached_reads.comparison(context, one, other, renames())
        except RenameError as error:
            with st.container(key="rename-problem", horizontal=True, vertical_alignment="center"):
                said = str(error).replace("--rename ", "The rename ", 1)
                show_problem(said.replace("--rename", "rename"))
                st.button("Remove renames", key="forget_renames", on_click=forget_rename)
            return cached_reads.comparison(context, one, other)


def _ask(context: Context, pipeline: str | None, one: Given | None, other: Given | None) -> None:
    """Show the forms for what is missing; what is there already is named beside it."""
    _nothing_yet(pipeline)
    left, right = st.columns(2, gap="medium", border=True)
    sides = ((left, one, OLD, CompareKey.BEFORE_GIVEN), (right, other, NEW, CompareKey.AFTER_GIVEN))
    for place, what, word, key in sides:
        with place:
            if what is None:
                ask_side(context, pipeline, word, key)
            else:
                said = f"Chosen: `{what.name()}`. Choose the other version."
                st.html(markup.section(word) + markup.quiet(said))


def _given(before: str, after: str, one: Given, other: Given) -> None:
    """Name the evidence that was put in, above the comparison."""
    left, right = st.container(key="given").columns(2)
    if before == GIVEN:
        with left:
            given_line("Before", one, CompareKey.BEFORE_GIVEN)
    if after == GIVEN:
        with right:
            given_line("After", other, CompareKey.AFTER_GIVEN)


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """What somebody wants to see of a comparison."""

    context: Context
    pipeline: str | None
    side: Side
    query: str
    only_changes: bool


def _show(look: ComparisonView, found: cached_reads.Comparison, pair: str) -> None:
    said = verdict(found.report)
    judged_for = engine_words(found.report.judged_for)
    st.html(markup.verdict(said.glyph, said.word, said.sentence, said.tone, judged_for))
    sketch = boxed(
        sketch_comparison(found.before, found.after, found.report, name=look.pipeline or "query")
    )
    closed = closed_boxes(sketch, look.query)
    only = look.only_changes and any(map(has_changed, sketch.nodes))
    # As the Topology page has it, so that one finds again what one knows.
    known = boxed(sketch_topology(found.after, name=look.pipeline or "query"))
    union = placed(
        sketch,
        Lens(collapsed=closed.boxes, only_changes=only, view=_view()),
        known,
    )
    scene = one_side(union, sketch, look.side, found.before.topology)

    def panel() -> None:
        if look.only_changes and not only:
            st.html(markup.quiet("No node of the graph changed, so the whole graph is shown."))
        compare_panel(look.context, look.pipeline, found, sketch)

    beside = Beside(panel, query=look.query)
    canvas_and_panel(
        scene, sketch, beside, key=CompareKey.GRAPH, picture=f"{pair} {only}", closed=closed
    )


def _view() -> tuple[float, float]:
    """Return the canvas size of the Topology page, whose picture this one is to be like."""
    return room(TopologyKey.GRAPH, CompareKey.GRAPH, lower=_LOWER)


def _nothing_yet(pipeline: str | None) -> None:
    what = (
        f"Choose a version to compare with {pipeline}"
        if pipeline
        else ("Choose two versions to compare")
    )
    st.html(
        markup.empty(
            what,
            "Paste or upload a query plan, event log or checkpoint, or choose a stored version. "
            "Headgate stores a version whenever a registered pipeline changes.",
        )
    )


main()
