"""The download menu of a graph: every format, made on its click."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import streamlit as st

from headgate.model.version import Version
from headgate.usecases.context import Context
from headgate.views.exports.exports import FORMS, Content, export_version
from headgate.views.exports.openlineage import MISSING
from headgate.views.reports.topology import topology_json

HELP = "Download the whole graph, for documents or other tools."


def export_menu(
    name: str,
    make: Callable[[str], Content],
    *,
    key: str,
    forms: Sequence[str] = tuple(FORMS),
    about: str = HELP,
) -> None:
    """Show the menu; `make` writes one of `FORMS` by its name, in the click's own request.

    `about` says what is in the file: no file follows the focus, or hides what the page hides.
    """
    with st.popover("", icon=":material/download:", help=about, key=f"{key}_menu"):
        for form in forms:
            _button(name, form, make, key)


def version_exports(context: Context, version: Version, name: str) -> None:
    """Show the menu of one version; `name` is what the page calls it."""

    def make(form: str) -> Content:
        if form == "json":
            return json.dumps(topology_json(version), indent=2, ensure_ascii=False, default=str)
        bootstrap = context.registry.bootstrap_servers
        return export_version(version, form, theme=theme(), bootstrap=bootstrap, name=name)

    export_menu(name, make, key="topology_export")


def theme() -> str:
    """Return the theme that the page is shown in: `light` or `dark`."""
    return "dark" if st.context.theme.type == "dark" else "light"


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
