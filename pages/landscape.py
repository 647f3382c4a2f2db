"""All pipelines and the topics between them, with live numbers."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.landscape.landscape import Landscape
from headgate.ui import data, markup
from headgate.ui.ask import switch
from headgate.ui.canvas import canvas_and_panel, focus_toggle, search
from headgate.ui.graph.component import room
from headgate.ui.keys import LandscapeKey
from headgate.ui.landscape_panel import landscape_panel
from headgate.ui.page import open_page, title
from headgate.ui.state import collapsed
from headgate.usecases.context import Context
from headgate.views.compose import compose
from headgate.views.numbers import plural
from headgate.views.scene import Lens
from headgate.views.scene_landscape import Level, live_notes, sketch_landscape, usual_level

# Seconds between two looks at the cluster.
REFRESH = 5


def main() -> None:
    context = open_page(__file__)
    if not context.registry.pipelines and not context.registry.bootstrap_servers:
        title("Landscape")
        st.html(
            markup.empty(
                "Nothing to show yet",
                "Write a headgate.toml that names your Kafka and your pipelines, and point"
                " HEADGATE_CONFIG at it. `headgate up --demo` starts a whole example.",
            )
        )
        return
    _page(context)


@st.fragment(run_every=REFRESH)
def _page(context: Context) -> None:
    seen = data.cluster(context)
    try:
        landscape = data.landscape(context, seen)
    except HeadgateError as error:
        st.error(str(error), icon=":material/error:")
        return
    head, levels, find, focus, topics = st.columns(
        [3.1, 1.75, 1.8, 0.9, 1.05], vertical_alignment="center"
    )
    with head:
        title("Landscape", _summary(landscape))
    with levels:
        level = switch(
            "Level",
            list(Level),
            key=LandscapeKey.LEVEL,
            usual=usual_level(landscape),
            shown=str.capitalize,
        )
    with find:
        query = search(LandscapeKey.SEARCH, "Search pipelines, topics, nodes")
    with focus:
        near = focus_toggle(LandscapeKey.FOCUS)
    with topics:
        everything = st.toggle(
            "All topics",
            key=LandscapeKey.UNUSED,
            help="Also internal topics, and topics and groups that no registered pipeline touches.",
            bind="query-params",
        )
    sketch = sketch_landscape(landscape, level, unused=everything)
    scene = compose(sketch, Lens(collapsed=collapsed(), focus=near, view=room(LandscapeKey.GRAPH)))
    panel = canvas_and_panel(
        scene,
        sketch,
        key=LandscapeKey.GRAPH,
        picture=f"{level} {everything} {near}",
        query=query,
        notes=live_notes(landscape),
    )
    with panel:
        landscape_panel(context, landscape, sketch, seen)


def _summary(landscape: Landscape) -> str:
    counts = (
        (len(landscape.pipelines), "pipeline"),
        (len(landscape.topics), "topic"),
        (len(landscape.groups), "consumer group"),
    )
    return ", ".join(plural(*c) for c in counts)


main()
