"""Mount the text area and return its text."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import streamlit as st

from headgate.errors import EvidenceError

MOST = 8 << 20
"""Characters that may be pasted."""


def paste_area(label: str, *, key: str, placeholder: str) -> str:
    """Show an area for text and return the text, as soon as it was pasted.

    Raises EvidenceError if it is longer than may be pasted.
    """
    kept = st.session_state.get(key) or {}
    _component()(
        key=key,
        data={
            "label": label,
            "placeholder": placeholder,
            "text": kept.get("text") or "",
            "most": MOST,
        },
        default={"text": "", "length": 0},
        on_text_change=_nothing,
        on_length_change=_nothing,
    )
    said = st.session_state.get(key) or {}
    if (said.get("length") or 0) > MOST:
        raise EvidenceError(
            f"the text has more than {MOST >> 20} million characters: upload the text as a file"
        )
    return str(said.get("text") or "")


def _nothing() -> None:
    """Only the states matter."""


@cache
def _component() -> Any:
    here = files(__package__)
    html, css, js = (
        here.joinpath(f"paste.{end}").read_text("utf-8") for end in ("html", "css", "js")
    )
    return st.components.v2.component("headgate_paste", html=html, css=css, js=js)
