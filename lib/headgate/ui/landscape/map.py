"""The landscape as a graph: selectors, paths and what is downstream, with live numbers."""

from __future__ import annotations

import json
from collections.abc import Collection

import streamlit as st

from headgate.errors import SelectorError
from headgate.landscape.landscape import Landscape
from headgate.landscape.paths import downstream, ids_of, path_between, upstream
from headgate.landscape.search import part
from headgate.landscape.selector import METHODS, select
from headgate.ui.landscape.panel import landscape_panel
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import collapsed, selected
from headgate.ui.shared.canvas import Beside, canvas_and_panel, closed_boxes, focus_toggle, search
from headgate.ui.shared.choose_one import switch
from headgate.ui.shared.cluster_poll import ClusterSnapshot
from headgate.ui.shared.export_menu import export_menu, theme
from headgate.ui.shared.graph.component import room
from headgate.ui.shared.keys import LandscapeKey
from headgate.usecases.context import Context
from headgate.usecases.landscape.export_lineage import export_lineage
from headgate.views.exports.exports import Content, draw, export_landscape
from headgate.views.layout.two_level import MANY
from headgate.views.reports.landscape_json import landscape_json
from headgate.views.scene.compose import placed
from headgate.views.scene.highlight import Pairs, Trace, along, among
from headgate.views.scene.landscape import (
    Level,
    closes_itself,
    live_notes,
    sketch_landscape,
    usual_level,
)
from headgate.views.scene.landscape_groups import grouped
from headgate.views.scene.scene import Lens, Scene, Sketch

DOWNLOAD = "Download the nodes that the selector shows, for documents or other tools."
NOTHING = "No node matches. Change or clear the selector or the exclusion."

HELP = "\n".join(
    (
        "Selects the nodes to show, with the selector syntax of dbt. A space means union, a comma "
        "means intersection.",
        "",
        "- `orders`, `orders*`: nodes with this name, or with names that match this pattern",
        "- `+orders`, `orders+`: `orders` and everything upstream, or everything downstream",
        "- `2+orders+1`: `orders`, 2 steps upstream and 1 step downstream",
        "- `@orders`: `orders`, everything downstream, and everything upstream of those nodes",
        *(f"- `{method}:`: {meaning}" for method, meaning in METHODS.items()),
        "",
        'Names with spaces, commas, colons, quotes or `*` need quotes: `topic:"a, b"`.',
    )
)


def level_switch(landscape: Landscape) -> Level:
    """Ask how much of each pipeline is drawn."""
    return switch(
        "Level", list(Level), key=LandscapeKey.LEVEL, usual=usual_level(landscape),
        shown=str.capitalize,
    )  # fmt: skip


def selector_box() -> str:
    """Ask what to show; the text as it was typed."""
    return (
        st.text_input(
            "Select",
            key=LandscapeKey.SELECT,
            placeholder="orders+, owner:payments …",
            icon=":material/filter_alt:",
            label_visibility="collapsed",
            help=HELP,
            bind="query-params",
        )
        or ""
    )


def more_controls() -> tuple[str, str | None, bool]:
    """Show the controls that are needed less; return search, focus, and whether all topics show."""
    with st.popover("", icon=":material/tune:", help="Search, exclude, focus", key="more"):
        query = search(LandscapeKey.SEARCH, "Search pipelines, topics, nodes")
        st.text_input(
            "Exclude",
            key=LandscapeKey.EXCLUDE,
            placeholder="Exclude nodes by a selector",
            icon=":material/filter_alt_off:",
            label_visibility="collapsed",
            bind="query-params",
        )
        near = focus_toggle(LandscapeKey.FOCUS)
        everything = st.toggle(
            "All topics",
            key=LandscapeKey.UNUSED,
            help="Also show internal topics, and topics and groups that no pipeline uses.",
            bind="query-params",
        )
    return query, near, everything


def chosen_part(landscape: Landscape, expression: str) -> tuple[Landscape, str | None]:
    """Return what the selectors show, or everything and one sentence why not."""
    exclude = str(st.session_state.get(LandscapeKey.EXCLUDE) or "")
    if not expression.strip() and not exclude.strip():
        return landscape, None
    try:
        return part(landscape, select(landscape, expression, exclude)), None
    except SelectorError as error:
        return landscape, str(error)


def landscape_map(
    context: Context,
    landscape: Landscape,
    seen: ClusterSnapshot,
    *,
    level: Level,
    expression: str,
    more: tuple[str, str | None, bool],
) -> Scene:
    """Draw the map and its panel; return the scene, for the exports."""
    query, near, everything = more
    shown, problem = chosen_part(landscape, expression)
    if problem:
        with st.container(key="selector-problem"):
            st.html(markup.say(problem, "unknown"))
    filtered = shown is not landscape
    if filtered and not shown.nodes and not problem:
        with st.container(key="selector-problem"):
            st.html(markup.say(NOTHING, "unknown"))
    sketch = sketch_landscape(
        shown, level, unused=everything or filtered, opened=opened_pipelines()
    )
    sketch = grouped(sketch, shown)
    closed = closed_boxes(sketch, query, _boxes_of(sketch, opened_pipelines()))
    scene = placed(sketch, _lens(sketch, near, closed.boxes))
    beside = Beside(
        lambda: landscape_panel(
            context, landscape, sketch, seen,
            trace=trace_chosen()[0], closed=closes_itself(shown, level),
        ),
        trail=lambda: _trail(landscape, sketch),
        query=query,
        notes=live_notes(shown),
    )  # fmt: skip
    picture = f"{level} {everything} {near} {expression}"
    canvas_and_panel(scene, sketch, beside, key=LandscapeKey.GRAPH, picture=picture, closed=closed)
    return scene


def _boxes_of(sketch: Sketch, pipelines: Collection[str]) -> list[str]:
    return [b.id for b in sketch.boxes if b.title in pipelines and b.id.startswith(f"{b.title}/")]


def _lens(sketch: Sketch, near: str | None, closed: frozenset[str]) -> Lens:
    """A picture that is too large to be seen whole is laid out once, whatever the canvas size."""
    view = room(LandscapeKey.GRAPH) if len(sketch.nodes) <= MANY else Lens().view
    return Lens(collapsed=closed, focus=near, view=view)


def opened_pipelines() -> frozenset[str]:
    """Return the pipelines whose internals were opened one by one."""
    return frozenset(st.query_params.get_all(LandscapeKey.OPENED))


def trace_chosen() -> tuple[Trace, str]:
    """Return what the address says is highlighted, and the far end of a way."""
    word = st.query_params.get(LandscapeKey.TRACE, "")
    known = Trace(word) if word in list(Trace) else Trace.NONE
    return known, st.query_params.get(LandscapeKey.TO, "")


def _trail(landscape: Landscape, sketch: Sketch) -> Pairs:
    trace, end = trace_chosen()
    start = selected()
    starts = ids_of(landscape, start) if start else frozenset()
    if not starts or trace is Trace.NONE:
        return ()
    if trace is Trace.PATH:
        path = path_between(landscape, starts, end)
        return along(sketch, landscape, path.nodes or path.back)
    reach = (downstream if trace is Trace.DOWNSTREAM else upstream)(landscape, starts)
    return among(sketch, landscape, starts | reach.nodes.keys())


def exports(context: Context, landscape: Landscape, level: Level, expression: str) -> None:
    """Show the download menu of what the selectors show."""
    shown, _ = chosen_part(landscape, expression)

    def make(form: str) -> Content:
        if form == "json":
            return json.dumps(landscape_json(shown), indent=2, ensure_ascii=False)
        if form == "openlineage":
            return export_lineage(context, [p.name for p in shown.pipelines])
        if form in ("svg", "png"):
            everything = bool(st.session_state.get(LandscapeKey.UNUSED))
            sketch = sketch_landscape(shown, level, opened=opened_pipelines(),
                                      unused=everything or shown is not landscape)  # fmt: skip
            return draw(placed(sketch, Lens(collapsed=collapsed())), form, notes=live_notes(shown),
                        theme=theme())  # fmt: skip
        return export_landscape(shown, form, level=level)

    export_menu("landscape", make, key="landscape_export", about=DOWNLOAD)
