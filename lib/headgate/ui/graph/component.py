"""Mount the graph component and hand it a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import streamlit as st

from headgate.ui.graph.payload import WORDS, payload
from headgate.views.scene import Scene

SCRIPTS = ("icons.js", "draw.js", "camera.js", "graph.js")
"""In this order they form one module: only the last one exports."""


def show_graph(
    scene: Scene,
    *,
    key: str,
    picture: str,
    selected: str | None = None,
    hits: Iterable[str] = (),
    query: str = "",
    notes: Mapping[str, str] | None = None,
    collapsed: Iterable[str] = (),
    on_select: Callable[[str | None], None] = lambda node: None,
    on_toggle: Callable[[str], None] = lambda box: None,
) -> None:
    """Draw `scene`; `picture` names what is shown, and pan and zoom last as long as it does.

    `hits` are node ids that the search `query` found, `notes` short live texts by node or box
    id, `collapsed` the boxes that a click opens again. The callbacks run before the rerun.
    """

    def selection_changed() -> None:
        on_select(st.session_state[key].get("selected"))

    def box_toggled() -> None:
        if box := st.session_state[key].get("toggled"):
            on_toggle(box)

    _component()(
        key=key,
        data={
            "scene": {**payload(scene), "can_expand": sorted(collapsed)},
            "words": WORDS,
            "picture": picture,
            "selected": selected,
            "hits": list(hits),
            "query": query,
            "notes": dict(notes or {}),
        },
        default={"selected": selected},
        on_selected_change=selection_changed,
        on_toggled_change=box_toggled,
    )


@cache
def _component() -> Any:
    here = files(__package__)
    style = files("headgate.ui.style")
    return st.components.v2.component(
        "headgate_graph",
        html=here.joinpath("graph.html").read_text("utf-8"),
        css="\n".join(p.read_text("utf-8") for p in (style / "tokens.css", here / "graph.css")),
        js="\n".join(here.joinpath(name).read_text("utf-8") for name in SCRIPTS),
    )
