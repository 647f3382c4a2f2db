"""What every page does first: one call for the look, who is asking, and the configuration."""

from __future__ import annotations

import gc
from functools import cache
from importlib.resources import files
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from headgate.errors import HeadgateError, StoreError
from headgate.model.person import unverified
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.markup import header
from headgate.usecases.context import Context, config_file, read_context, with_checkpoint_locations

PAGES = {
    "landscape": "Landscape",
    "topology": "Topology",
    "compare": "Compare",
    "compare_output": "Outputs",
    "reprocess": "Reprocess",
    "requests": "Requests",
    "runs": "Runs",
    "schedules": "Schedules",
}
"""Every page by the name of its file, in the order of the navigation.

Pages have no icons: the browser would fetch a page's icon from the internet as its favicon.
"""


NAVIGATED = "navigated"


def navigate(root: Path) -> None:
    """Register all pages of the folder `root`, then run the requested one."""
    st.session_state[NAVIGATED] = True
    chosen = _register(root)
    st.set_page_config(
        page_title=f"{chosen.title} · Headgate",
        page_icon=str(files("headgate.ui.shared.style") / "favicon.svg"),
        layout="wide",
    )
    st.logo(str(files("headgate.ui.shared.style") / "logo.svg"), size="medium")
    chosen.run()
    _freeze()


def _register(root: Path) -> Page:
    pages = [
        st.Page(root / "pages" / f"{name}.py", title=title, default=name == "landscape")
        for name, title in PAGES.items()
    ]
    return st.navigation(pages, position="top")


def open_page(file: str) -> Context:
    """Return what the page works in; the first call of every page, which has its gate.

    `file` is the page's own. As long as nobody called `st.navigation`, Streamlit serves a folder
    named `pages` by itself, past `console.py`: the first visitor of a fresh server is sent there.
    A configuration that cannot be read, or a store of another release, ends the page with one
    sentence.
    """
    if not st.session_state.get(NAVIGATED):
        st.session_state[NAVIGATED] = True
        _register(Path(file).parent.parent)
        st.rerun()
    st.html(f"<style>{_style()}</style>")
    try:
        context = with_checkpoint_locations(_configured(str(config_file().absolute()), _stamp()))
        _check_store(context.store_url)
        return context
    except StoreError as error:
        show_problem(error)
        st.stop()
    except HeadgateError as error:
        show_problem(error)
        st.caption("Headgate reads the file in HEADGATE_CONFIG (default: ./headgate.toml).")
        st.stop()


@st.cache_resource(show_spinner=False, max_entries=4)
def _configured(file: str, stamp: tuple[int, ...]) -> Context:
    """Read the file once for as long as it stays the same: 2,000 pipelines take a while."""
    return read_context()


@st.cache_resource(show_spinner=False, max_entries=4)
def _check_store(url: str) -> None:
    """Raise StoreError unless this program can use the store; what is good is not asked again."""
    # Imported here: a process asks once.
    from headgate.store.sqlite_reader import open_soonest

    open_soonest(url).close()


def _stamp() -> tuple[int, ...]:
    try:
        found = config_file().stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def title(text: str, summary: str = "") -> None:
    """Show the page's title with one muted line beside it."""
    st.html(header(text, summary))


NOBODY = unverified("console", "not logged in")


def user() -> str:
    """Return who is asking, for the audit: the logged-in user's address, else `NOBODY`."""
    if getattr(st.user, "is_logged_in", False):
        return str(st.user.get("email") or st.user.get("sub") or NOBODY)
    return NOBODY


@cache
def _style() -> str:
    parts = (
        files("headgate.views.scene.shared_look") / "tokens.css",
        files("headgate.ui.shared.style") / "pages.css",
    )
    return "\n".join(part.read_text("utf-8") for part in parts)


@st.cache_resource
def _freeze() -> None:
    """Keep what is imported out of the collections that follow every rerun (56 to 5 ms CPU)."""
    gc.collect()
    gc.freeze()
