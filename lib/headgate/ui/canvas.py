"""The canvas and the panel beside it: the same frame on every page that shows a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

import streamlit as st

from headgate.ui.graph.component import show_graph
from headgate.ui.state import collapsed, select, selected, toggle_box
from headgate.views.scene import Scene, Sketch

SHARES = (4.6, 1.2)
"""How the page's width is shared between the canvas and the panel."""


def canvas_and_panel(
    scene: Scene,
    sketch: Sketch,
    *,
    key: str,
    picture: str,
    query: str = "",
    notes: Mapping[str, str] | None = None,
    trail: Iterable[tuple[str, str]] = (),
) -> AbstractContextManager[object]:
    """Draw the scene with the selection of the address; return the panel to write into."""
    graph, panel = st.columns(SHARES, gap="small")
    with graph:
        show_graph(
            scene,
            key=key,
            picture=picture,
            selected=selected(),
            hits=sketch.matching(query),
            query=query,
            notes=notes,
            collapsed=collapsed(),
            trail=trail,
            on_select=select,
            on_toggle=toggle_box,
        )
    return panel.container(border=True, key="details", gap="xsmall")


def search(key: str, placeholder: str = "Search nodes") -> str:
    """Ask for what to look for; found as one types."""
    return (
        st.text_input(
            "Search",
            key=key,
            placeholder=placeholder,
            icon=":material/search:",
            label_visibility="collapsed",
            live=True,
            bind="query-params",
        )
        or ""
    )


def focus_toggle(key: str) -> str | None:
    """Ask whether to show only what is near the selection; return the node to focus."""
    chosen = selected()
    focused = st.toggle(
        "Focus",
        key=key,
        disabled=chosen is None,
        help="Show only what is within two steps of the selected node.",
        bind="query-params",
    )
    return chosen if focused else None
