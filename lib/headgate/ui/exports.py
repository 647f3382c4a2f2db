"""The download menu of a graph: every format, made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import streamlit as st

from headgate.views.export_openlineage import MISSING
from headgate.views.exports import FORMS, Content

HELP = "Download the graph as it is shown, for documents, other tools or programs."


def export_menu(
    name: str, make: Callable[[str], Content], *, key: str, forms: Sequence[str] = tuple(FORMS)
) -> None:
    """Show the menu; `make` writes one of `FORMS` by its name, in the click's own request."""
    with st.popover("", icon=":material/download:", help=HELP, key=f"{key}_menu"):
        for form in forms:
            _button(name, form, make, key)


def _button(name: str, form: str, make: Callable[[str], Content], key: str) -> None:
    about = FORMS[form]
    missing = form == "openlineage" and find_spec("openlineage") is None
    st.download_button(
        about.title,
        data=lambda: make(form),
        file_name=f"{name}.{about.ending}",
        mime=about.media_type,
        key=f"{key}_{form}",
        on_click="ignore",
        type="tertiary",
        disabled=missing,
        help=MISSING if missing else None,
        width="stretch",
    )
