"""Put a version into the store from uploaded files."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.ui.keys import TopologyKey
from headgate.ui.upload import save
from headgate.usecases.capture import capture_into_store
from headgate.usecases.context import Context

ACCEPTED = (
    "Explain text, a plan as JSON, query progress, an event log, a version file of"
    " `headgate capture`, or a checkpoint folder as a zip. Several files make one version."
)


@st.dialog("Add a version from files", width="medium")
def capture_dialog(context: Context, pipeline: str) -> None:
    """Ask for files and a pipeline, and store what they say as its newest version."""
    names = [p.name for p in context.registry.pipelines]
    chosen = st.selectbox(
        "Pipeline", names, index=names.index(pipeline), key=TopologyKey.UPLOAD_PIPELINE
    )
    files = st.file_uploader(
        "Evidence", accept_multiple_files=True, key=TopologyKey.UPLOAD, help=ACCEPTED
    )
    st.caption(ACCEPTED)
    if not st.button(
        "Read and store", key=TopologyKey.UPLOAD_GO, type="primary", disabled=not files
    ):
        return
    try:
        with st.spinner("Reading"):
            number, is_new = capture_into_store(save(files), pipeline=chosen, context=context)
    except HeadgateError as error:
        st.error(str(error), icon=":material/error:")
        return
    if is_new:
        st.success(f"Stored as version {number} of {chosen}.", icon=":material/check:")
    else:
        st.info(f"Nothing new: it equals version {number} of {chosen}.")
    st.page_link(
        "pages/topology.py",
        label="Show it",
        icon=":material/hub:",
        query_params=[(TopologyKey.PIPELINE, chosen), (TopologyKey.VERSION, str(number))],
    )
