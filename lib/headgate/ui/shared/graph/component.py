"""Mount the graph component and hand it a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

import streamlit as st

from headgate.views.scene.scene import LOOK_WORDS, MARK_WORDS, STATUS_WORDS, Scene

WORDS: dict[str, dict[str, Any]] = {
    "looks": {str(look): word for look, word in LOOK_WORDS.items()},
    "statuses": {str(status): list(words) for status, words in STATUS_WORDS.items()},
    "marks": {str(mark): list(words) for mark, words in MARK_WORDS.items()},
}


def payload(scene: Scene) -> dict[str, Any]:
    """Return the scene as plain lists and dictionaries; field names stay."""
    return {
        "nodes": [asdict(n) for n in scene.nodes],
        "edges": [asdict(e) for e in scene.edges],
        "boxes": [asdict(b) for b in scene.boxes],
        "width": scene.width,
        "height": scene.height,
        "is_diff": scene.is_diff,
    }


SCRIPTS = ("draw.js", "camera.js", "graph.js")
"""Files that form one module in this order. Only the last file exports."""

USUAL_ROOM = (1290, 700)
"""Size of the canvas in pixels before the browser reports its size."""
RIM = (60, 44)
"""Margins of the canvas."""


def show_graph(
    scene: Scene,
    *,
    key: str,
    picture: str,
    home: str | None = None,
    collapsed: Iterable[str] = (),
    is_large: bool = False,
    on_toggle: Callable[[str], None] = lambda _box: None,
) -> None:
    """Draw `scene`; `picture` names what is shown, and pan and zoom last as long as it does.

    `home` is the node to begin with if not all of them fit, `collapsed` are the boxes that a
    click opens. A picture that `is_large` opens fitted to the window, however small its labels
    are. What is marked in the picture comes by `show_marks`. The callback runs before
    the rerun.
    """

    def box_toggled() -> None:
        if toggled := st.session_state[key].get("toggled"):
            on_toggle(toggled["id"])

    def room_measured() -> None:
        if room := st.session_state[key].get("room"):
            st.session_state[_room_key(key)] = tuple(room)

    _component()(
        key=key,
        data={
            "scene": {**payload(scene), "can_expand": sorted(collapsed)},
            "words": WORDS,
            "key": key,
            "picture": picture,
            "home": home,
            "fit": is_large,
            "room": st.session_state.get(_room_key(key)),
        },
        default={"toggled": None, "room": None},
        on_room_change=room_measured,
        on_toggled_change=box_toggled,
    )


def show_marks(
    graph: str,
    *,
    picture: str,
    selected: str | None = None,
    hits: Iterable[str] = (),
    query: str = "",
    notes: Mapping[str, str] | None = None,
    trail: Iterable[tuple[str, str]] = (),
    on_select: Callable[[str | None], None] = lambda _node: None,
) -> None:
    """Mark what is selected or found in the graph of that key; a click reruns only this.

    It is a component of its own: a click sends neither the graph nor the page again. `hits` are
    node ids that the search `query` found, `notes` short live texts by node or box id. `trail`
    are edges to be followed: all else is dimmed. The callback runs before the rerun.
    """
    key = f"{graph}_marks"

    def node_picked() -> None:
        if picked := st.session_state[key].get("picked"):
            on_select(picked["id"])

    _marks()(
        key=key,
        data={
            "graph": graph,
            "picture": picture,
            "selected": selected,
            "hits": list(hits),
            "query": query,
            "notes": dict(notes or {}),
            "trail": [list(pair) for pair in trail],
        },
        default={"picked": None},
        on_picked_change=node_picked,
    )


def room(key: str, other: str | None = None, *, lower: float = 0.0) -> tuple[float, float]:
    """Return width and height to lay out for, in pixels: the measured canvas less its rim.

    If that canvas was not seen yet, it is the `other` one, which is `lower` by so much.
    """
    width, height = st.session_state.get(_room_key(key)) or _room_of(other, lower)
    return width - RIM[0], height - RIM[1]


def _room_of(key: str | None, lower: float) -> tuple[float, float]:
    measured = st.session_state.get(_room_key(key)) if key else None
    return (measured[0], measured[1] + lower) if measured else USUAL_ROOM


def _room_key(key: str) -> str:
    return f"{key}_room"


@cache
def _component() -> Any:
    here = files(__package__)
    look = files("headgate.views.scene.shared_look")
    scripts = (look / "icons.js", *(here / name for name in SCRIPTS))
    return st.components.v2.component(
        "headgate_graph",
        html=here.joinpath("graph.html").read_text("utf-8"),
        css="\n".join(p.read_text("utf-8") for p in (look / "tokens.css", here / "graph.css")),
        js="\n".join(p.read_text("utf-8") for p in scripts),
    )


@cache
def _marks() -> Any:
    script = files(__package__) / "marks.js"
    return st.components.v2.component("headgate_marks", js=script.read_text("utf-8"))
