"""Say how an upgrade of Kafka Streams is rehearsed: from the command line, as it needs a jar."""

from __future__ import annotations

import shlex

import streamlit as st

from headgate.model.registered_pipelines import Pipeline
from headgate.ui.shared import markup

_WHAT = (
    "Kafka Streams itself says whether the new version goes on: its jar is started on a copy of the"
    " state directory and of the topics, on a broker of its own. No page starts jars, so it is done"
    " from the command line; your cluster and the directory are only read."
)


def streams_rehearsal(pipeline: Pipeline | None) -> None:
    """Show what to call; `pipeline` gives the application id and the old version's evidence."""
    with st.expander("Rehearsal on a copy of the state directory", icon=":material/theaters:"):
        st.html(markup.quiet(_WHAT))
        st.code(command(pipeline), language="sh", wrap_lines=True)


def command(pipeline: Pipeline | None) -> str:
    """Return the command line, with what is not known here in capitals."""
    words = ["headgate", "rehearse", "--state-dir", "DIR"]
    if pipeline is not None and pipeline.group:
        words += ["--application-id", pipeline.group]
    words += ["--jar", "NEW.jar", "--after", "CLASS#method"]
    if pipeline is not None and pipeline.evidence:
        words += ["--before", pipeline.evidence[0]]
    return shlex.join(words)
