"""One version of one pipeline as a graph: click a node for everything that is known of it."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.model.version import Version
from headgate.store.versions import VersionRow
from headgate.ui import data, markup
from headgate.ui.ask import choose
from headgate.ui.canvas import canvas_and_panel, focus_toggle, search
from headgate.ui.capture import capture_dialog
from headgate.ui.details import neighbours, node_facts, node_heading
from headgate.ui.graph.component import room
from headgate.ui.keys import TopologyKey
from headgate.ui.page import open_page, title
from headgate.ui.pick import observed_last, pick_pipeline, version_label
from headgate.ui.state import collapsed, selected
from headgate.ui.version_facts import version_facts
from headgate.usecases.context import Context
from headgate.views.compose import compose
from headgate.views.numbers import plural
from headgate.views.scene import Lens, Sketch
from headgate.views.scene_topology import sketch_topology

ADD = "Add a version from files: a plan, a checkpoint as a zip, a capture"


def main() -> None:
    context = open_page(__file__)
    try:
        _page(context)
    except HeadgateError as error:
        st.error(str(error), icon=":material/error:")


@st.fragment
def _page(context: Context) -> None:
    head, pipelines, numbers, find, focus, add = st.columns(
        [2.6, 1.7, 1.9, 1.7, 0.9, 0.5], vertical_alignment="center"
    )
    with pipelines:
        pipeline = pick_pipeline(context, TopologyKey.PIPELINE)
    if pipeline is None:
        with head:
            title("Topology")
        st.html(
            markup.empty(
                "No pipeline is registered",
                "Declare your pipelines in headgate.toml; the README shows how.",
            )
        )
        return
    with add:
        if st.button("", key=TopologyKey.UPLOAD_OPEN, icon=":material/upload_file:", help=ADD):
            capture_dialog(context, pipeline)
    rows = data.versions(context, pipeline)
    if not rows:
        with head:
            title("Topology", pipeline)
        _no_version(pipeline)
        return
    with numbers:
        row = _pick_version(rows)
    version = data.stored_version(context, pipeline, row.number)
    sketch = sketch_topology(version, name=pipeline)
    with head:
        title("Topology", _summary(version))
    with find:
        query = search(TopologyKey.SEARCH)
    with focus:
        near = focus_toggle(TopologyKey.FOCUS)
    _graph(version, row, sketch, query, near)


def _graph(version: Version, row: VersionRow, sketch: Sketch, query: str, near: str | None) -> None:
    scene = compose(sketch, Lens(collapsed=collapsed(), focus=near, view=room(TopologyKey.GRAPH)))
    picture = f"{row.pipeline}@{row.number} {near}"
    with canvas_and_panel(scene, sketch, key=TopologyKey.GRAPH, picture=picture, query=query):
        chosen = selected()
        if chosen is None or sketch.node(chosen) is None:
            version_facts(version, row)
            return
        node_heading(sketch, chosen)
        if (node := version.topology.node(chosen)) is not None:
            st.html(node_facts(version, node))
        neighbours(sketch, chosen)


def _pick_version(rows: tuple[VersionRow, ...]) -> VersionRow:
    by_number = {row.number: row for row in rows}
    number = choose(
        "Version",
        list(by_number),
        key=TopologyKey.VERSION,
        usual=observed_last(rows).number,
        shown=lambda n: version_label(by_number[n]),
    )
    return by_number[number]


def _summary(version: Version) -> str:
    parts = len(version.topology.subtopologies())
    nodes = len(version.topology.nodes)
    return f"{parts} sub-topolog{'y' if parts == 1 else 'ies'}, {plural(nodes, 'node')}"


def _no_version(pipeline: str) -> None:
    st.html(
        markup.empty(
            f"No version of {pipeline} is stored yet",
            "The worker reads its checkpoint every minute, as soon as there is one.",
            f"Or add files with the button above, or run: headgate capture … --pipeline {pipeline}",
        )
    )


main()
