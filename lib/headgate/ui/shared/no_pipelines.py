"""What a page shows while no pipeline is registered: which file to write, and an example of it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from headgate.ui.shared import markup
from headgate.usecases.context import CONFIG, FILE, Context

EXAMPLE = """\
[kafka]
bootstrap_servers = "broker-1:9092"

[[pipeline]]
name = "orders-by-city"
engine = "spark"
checkpoint = "/data/checkpoints/orders-by-city"
"""
_DEMO = "`headgate up --demo` starts an example with demo pipelines."


def no_pipelines(context: Context, *more: str) -> None:
    """Say what is missing, and how the file looks; `more` are lines of the page's own."""
    st.html(markup.empty(*_words(context), *more))
    _, middle, _ = st.columns([1, 1.6, 1])
    with middle:
        # The colours that Streamlit gives to TOML have too little contrast.
        st.code(EXAMPLE, language=None)


def _words(context: Context) -> tuple[str, ...]:
    path = context.registry.path
    if path is None:
        return (
            f"No {FILE} found",
            f"Headgate found no {FILE} in {Path.cwd()}. Write the file there, with your Kafka "
            f"cluster and pipelines, and reload the page. Or set {CONFIG} to the path of the file, "
            "and restart the console.",
            _DEMO,
        )
    kafka = "" if context.registry.bootstrap_servers else "bootstrap_servers under [kafka], and "
    return (
        "No pipelines registered",
        f"{path} has no pipelines. Add {kafka}a [[pipeline]] table for each pipeline to the file. "
        "Then reload the page.",
        _DEMO,
    )
