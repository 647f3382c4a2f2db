"""The canvas and the panel beside it: the same frame on every page that shows a graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import streamlit as st

from headgate.ui.shared import markup
from headgate.ui.shared.address_state import collapsed, of_the_picture, select, selected, toggle_box
from headgate.ui.shared.graph.component import show_graph, show_marks
from headgate.views.scene.folded import MANY, stand_ins, usually_closed
from headgate.views.scene.scene import Scene, Sketch, first_to_see

SHARES = (4.6, 1.2)
"""Widths of canvas and panel, as shares of the page."""
Trail = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Beside:
    """What is marked in a picture, and what is shown beside it.

    `panel` writes the details of what is selected. It and `trail` are called at every click,
    and must look up the selection by themselves: the rest of the page does not run then.
    """

    panel: Callable[[], None]
    trail: Callable[[], Trail] = tuple
    query: str = ""
    notes: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """The boxes that are closed, and those of them that nobody closed: there is too much."""

    boxes: frozenset[str]
    usual: frozenset[str]


def closed_boxes(sketch: Sketch, query: str = "", opened: Collection[str] = ()) -> Closed:
    """Return what of a sketch is closed, as the address and the search `query` say.

    Boxes that are `opened` are closed only if somebody closed them.
    """
    hits = sketch.matching(query)
    usual = usually_closed(sketch, selected=selected(), hits=hits, opened=opened)
    return Closed(collapsed(usual), usual)


def canvas_and_panel(
    scene: Scene, sketch: Sketch, beside: Beside, *, key: str, picture: str, closed: Closed
) -> None:
    """Draw the scene with the selection of the address, and the panel."""
    home = first_to_see(scene, sketch)
    graph, panel = st.columns(SHARES, gap="small")
    with graph:
        show_graph(
            scene,
            key=key,
            picture=picture,
            home=home,
            collapsed=closed.boxes,
            is_large=len(sketch.nodes) > MANY and (home is None or not sketch.is_diff),
            on_toggle=lambda box: toggle_box(box, closed.boxes, closed.usual),
        )
    with panel:
        shown = _Shown(sketch, stand_ins(sketch, scene), of_the_picture(), closed)
        _beside(beside, shown, key, picture)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the page drew: `drawn_as` names the box that is drawn in place of a node in it."""

    sketch: Sketch
    drawn_as: Mapping[str, str]
    address: tuple[object, ...]
    closed: Closed

    def is_outdated(self) -> bool:
        """Return whether the address needs another picture, or has a node in a box that closed."""
        node = self.sketch.node(selected())
        is_hidden = node is not None and node.box in self.closed.usual & self.closed.boxes
        return is_hidden or of_the_picture() != self.address

    def hits(self, query: str) -> list[str]:
        """Return what is drawn in place of each hit."""
        found = self.sketch.matching(query)
        return list(dict.fromkeys(self.drawn_as[n] for n in found if n in self.drawn_as))

    def trail(self, pairs: Trail) -> Iterator[tuple[str, str]]:
        """Yield the edges that are drawn in place of these."""
        for source, target in pairs:
            ends = self.drawn_as.get(source), self.drawn_as.get(target)
            if ends[0] and ends[1] and ends[0] != ends[1]:
                yield ends[0], ends[1]


@st.fragment
def _beside(beside: Beside, shown: _Shown, key: str, picture: str) -> None:
    """Show what a click changes; if it changes the picture, the whole page runs."""
    hits = shown.hits(beside.query)
    with st.container(key="marks"):
        show_marks(
            key,
            picture=picture,
            selected=selected(),
            hits=hits,
            query=beside.query,
            notes=beside.notes,
            trail=shown.trail(beside.trail()),
            on_select=select,
        )
    if shown.is_outdated():
        st.rerun()
    with st.container(border=True, key="details", gap="xsmall"):
        if beside.query and not hits:
            st.html(markup.say(f"No node matches {beside.query}.", "unknown"))
        beside.panel()


def search(key: str, placeholder: str = "Search nodes") -> str:
    """Return the text of the search field; nodes are found as one types."""
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
    focused = st.toggle(
        "Focus",
        key=key,
        help="Show only the selected node and nodes within two steps of it. First select a node.",
        bind="query-params",
    )
    return selected() if focused else None
