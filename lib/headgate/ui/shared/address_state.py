"""What a view shows, kept in the address: selection and collapsed boxes."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from headgate.ui.shared.keys import LandscapeKey, Param, TopologyKey

BESIDE = frozenset({Param.NODE, Param.FINDING, LandscapeKey.TRACE, LandscapeKey.TO})
"""Query parameters that change the selection and the panel, but not the graph."""


def selected(name: Param = Param.NODE) -> str | None:
    """Return what is selected."""
    return st.query_params.get(name) or None


def select(value: str | None, name: Param = Param.NODE) -> None:
    """Select something, or nothing."""
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def select_finding(number: int, node: str | None) -> None:
    """Select a finding and the node that it is about."""
    select(str(number), Param.FINDING)
    select(node)


def leave_finding() -> None:
    """Select neither a finding nor a node."""
    select(None)
    select(None, Param.FINDING)


def of_the_picture() -> tuple[object, ...]:
    """Return the part of the address that decides what is drawn.

    The selection does only where everything else is left out (TopologyKey.FOCUS).
    """
    address: dict[str, object] = dict(st.query_params.to_dict())
    address |= {name: st.query_params.get_all(name) for name in address}
    focused = st.query_params.get(TopologyKey.FOCUS)
    beside = BESIDE - {Param.NODE} if focused == "true" else BESIDE
    return tuple(sorted((k, str(v)) for k, v in address.items() if k not in beside))


def collapsed(usual: Collection[str] = ()) -> frozenset[str]:
    """Return the ids of the boxes that are closed: some are `usual`ly, unless they were opened."""
    opened = st.query_params.get_all(Param.UNFOLDED)
    return frozenset(usual).difference(opened).union(st.query_params.get_all(Param.CLOSED))


def toggle_box(box: str, closed: Collection[str], usual: Collection[str] = ()) -> None:
    """Close a box, or open it if it is one of the `closed` ones."""
    shut, opened = (set(st.query_params.get_all(p)) for p in (Param.CLOSED, Param.UNFOLDED))
    if box in closed:
        shut.discard(box)
        opened |= {box} & set(usual)
    else:
        opened.discard(box)
        shut.add(box)
    for name, boxes in ((Param.CLOSED, shut), (Param.UNFOLDED, opened)):
        if boxes:
            st.query_params[name] = sorted(boxes)
        else:
            st.query_params.pop(name, None)
