"""Two versions of a pipeline: what a restart of the new one on the old one's state would do."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.ui import data, markup
from headgate.ui.ask import switch
from headgate.ui.canvas import canvas_and_panel, search
from headgate.ui.compare_panel import compare_panel
from headgate.ui.graph.component import room
from headgate.ui.keys import CompareKey
from headgate.ui.page import open_page, title
from headgate.ui.pick import pick_pipeline
from headgate.ui.sides import FILES, evidence, pick_side, usual_sides
from headgate.ui.state import collapsed
from headgate.usecases.context import Context
from headgate.views.compose import compose
from headgate.views.scene import Lens
from headgate.views.scene_compare import Side, one_side, sketch_comparison
from headgate.views.verdict import verdict


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        st.error(str(error), icon=":material/error:")


@st.fragment
def _page(context: Context) -> None:
    head, pipelines, old, new, sides, find, only = st.columns(
        [1.05, 1.5, 1.75, 1.75, 2.05, 1.3, 1.45], vertical_alignment="center"
    )
    with head:
        title("Compare")
    with pipelines:
        pipeline = pick_pipeline(context, CompareKey.PIPELINE)
    rows = data.versions(context, pipeline) if pipeline else ()
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
    pair = _evidence(pipeline, before, after)
    if pair is None:
        _nothing_yet(pipeline)
        return
    with st.spinner("Comparing"):
        found = data.comparison(context, *pair)
    _show(found, pipeline or "query", f"{pair}", side, query, only_changes)


def _evidence(
    pipeline: str | None, before: str, after: str
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return both sides' evidence, None while files are still to come."""
    if FILES not in (before, after):
        return (
            evidence(pipeline, before, "Before", CompareKey.BEFORE_FILES),
            evidence(pipeline, after, "After", CompareKey.AFTER_FILES),
        )
    left, right = st.columns(2)
    with left:
        old = evidence(pipeline, before, "Before: the version that runs", CompareKey.BEFORE_FILES)
    with right:
        new = evidence(pipeline, after, "After: the version to deploy", CompareKey.AFTER_FILES)
    return (old, new) if old and new else None


def _show(found: data.Comparison, name: str, pair: str, side: Side, query: str, only: bool) -> None:
    said = verdict(found.report)
    st.html(markup.verdict(said.glyph, said.word, said.sentence, said.outcome.word))
    sketch = sketch_comparison(found.before, found.after, found.report, name=name)
    union = compose(
        sketch, Lens(collapsed=collapsed(), only_changes=only, view=room(CompareKey.GRAPH))
    )
    scene = one_side(union, sketch, side, found.before.topology)
    panel = canvas_and_panel(
        scene, sketch, key=CompareKey.GRAPH, picture=f"{pair} {only}", query=query
    )
    with panel:
        compare_panel(found, sketch)


def _nothing_yet(pipeline: str | None) -> None:
    what = f"Only one version of {pipeline} is stored" if pipeline else "No pipeline is registered"
    st.html(
        markup.empty(
            what,
            "Upload what tells of the other version: explain text, a plan as JSON, a version"
            " file of `headgate capture`, or a checkpoint folder as a zip.",
            "Every change of a registered pipeline becomes a stored version by itself.",
        )
    )


main()
