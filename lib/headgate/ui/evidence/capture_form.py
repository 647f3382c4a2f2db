"""Add evidence: show its graph, or store the evidence as a version of a pipeline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import streamlit as st

from headgate.errors import HeadgateError
from headgate.model.version import Version
from headgate.ui.evidence.evidence_form import evidence_form
from headgate.ui.shared import cached_reads
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.given_evidence import GIVEN, Given, keep
from headgate.ui.shared.keys import Param, TopologyKey
from headgate.ui.shared.read_in_background import read_apart
from headgate.ui.shared.upload import as_uploaded
from headgate.usecases.context import Context
from headgate.usecases.evidence.capture import store_version
from headgate.usecases.evidence.capture_history import capture_history, is_history


@st.dialog("Add evidence", width="medium")
def capture_dialog(context: Context, pipeline: str | None) -> None:
    """Take evidence; show it on the page, or store it as the newest version of a pipeline."""
    capture_form(context, pipeline)


def capture_form(context: Context, pipeline: str | None) -> None:
    """Ask as the dialog does, without one around it."""
    what = evidence_form(context, key=TopologyKey.UPLOAD, pipeline=pipeline)
    names = [p.name for p in context.registry.pipelines]
    look, location, store = st.columns([1, 1.4, 1], vertical_alignment="bottom")
    if look.button(
        "Show evidence", key=TopologyKey.UPLOAD_SHOW, type="primary", disabled=what is None,
        width="stretch",
    ):  # fmt: skip
        _show(what)
    if not names:
        return
    chosen = location.selectbox(
        "Pipeline of this version",
        names,
        index=names.index(pipeline) if pipeline in names else 0,
        key=TopologyKey.UPLOAD_PIPELINE,
    )
    if store.button(
        "Store version", key=TopologyKey.UPLOAD_GO, disabled=what is None, width="stretch"
    ):
        _store(context, what, chosen)
    _stored_line(what, "form")


def store_button(context: Context, what: Given, pipeline: str) -> None:
    """Offer to keep what is shown as a version of the chosen pipeline."""
    if st.button(
        f"Store as a version of {plain(pipeline)}", key="store_shown", icon=":material/save:",
        width="stretch",
    ):  # fmt: skip
        _store(context, what, pipeline)
    _stored_line(what, "panel")


def _show(what: Given | None) -> None:
    keep(TopologyKey.GIVEN, what)
    for name in Param:
        st.query_params.pop(name, None)
    st.query_params[TopologyKey.VERSION] = GIVEN
    st.rerun(scope="app")


def _store(context: Context, what: Given | None, pipeline: str) -> None:
    if what is None:
        return
    try:
        with st.spinner("Storing", show_time=True):
            number, added = _stored(context, what, pipeline)
    except HeadgateError as error:
        show_problem(error)
        return
    st.session_state[TopologyKey.STORED] = Stored(what, pipeline, number, added)


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored last: its newest version's number, and the numbers that are new."""

    what: Given
    pipeline: str
    number: int
    added: tuple[int, ...]


def _stored_line(what: Given | None, place: str) -> None:
    """Say what became of evidence that was stored, and offer to show it."""
    done = st.session_state.get(TopologyKey.STORED)
    if done is None or done.what != what:
        return
    name = plain(done.pipeline)
    if len(done.added) > 1:
        listed = f"versions {done.added[0]} to {done.added[-1]}"
        st.success(f"Stored the query's history: {listed} of {name}.", icon=":material/check:")
    elif done.added:
        st.success(f"Stored as version {done.number} of {name}.", icon=":material/check:")
    else:
        st.info(f"No change: version {done.number} of {name} already has this evidence.")
    # A link to the page that is open would leave the address as it is.
    if st.button(
        f"Show version {done.number}", key=f"show_stored_{place}", type="tertiary",
        icon=":material/hub:",
    ):  # fmt: skip
        _go_to(done)


def _go_to(done: Stored) -> None:
    del st.session_state[TopologyKey.STORED]
    for name in (*Param, TopologyKey.VIEW):
        st.query_params.pop(name, None)
    st.query_params[TopologyKey.PIPELINE] = done.pipeline
    st.query_params[TopologyKey.VERSION] = str(done.number)
    st.rerun(scope="app")


def _stored(context: Context, what: Given, pipeline: str) -> tuple[int, tuple[int, ...]]:
    """Return the number of the newest version, and the numbers that are new.

    An event log has every version that ran while it was written: all are kept, in their order.
    """
    version = cached_reads.version(context, what.evidence, what.query)
    if is_history(version):
        kept = read_apart(
            capture_history, list(what.evidence), evidence=what.evidence, pipeline=pipeline,
            context=context, query=what.query,
        )  # fmt: skip
        return kept.number, kept.added
    number, is_new = store_version(as_named(version), pipeline=pipeline, context=context)
    return number, (number,) if is_new else ()


def as_named(version: Version) -> Version:
    """Return the version with uploads by their own names: their folder is gone soon."""
    return replace(
        version,
        evidence=tuple(replace(e, path=as_uploaded(e.path)) for e in version.evidence),
        warnings=tuple(map(as_uploaded, version.warnings)),
        captured_at=version.captured_at or datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
