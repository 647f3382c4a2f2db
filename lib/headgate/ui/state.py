"""What a view shows, kept in the address: selection and collapsed boxes."""

from __future__ import annotations

import streamlit as st

from headgate.ui.keys import Param


def selected(name: Param = Param.NODE) -> str | None:
    """Return what is selected."""
    return st.query_params.get(name) or None


def select(value: str | None, name: Param = Param.NODE) -> None:
    """Select something, or nothing."""
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def collapsed() -> frozenset[str]:
    """Return the ids of the boxes that are closed."""
    return frozenset(st.query_params.get_all(Param.CLOSED))


def toggle_box(box: str) -> None:
    """Close a box, or open it again."""
    boxes = collapsed() ^ {box}
    if boxes:
        st.query_params[Param.CLOSED] = sorted(boxes)
    else:
        st.query_params.pop(Param.CLOSED, None)
