"""Ask which pipeline and which version."""

from __future__ import annotations

import streamlit as st

from headgate.store.versions import VersionRow
from headgate.usecases.context import Context
from headgate.views.numbers import short_time


def pick_pipeline(context: Context, key: str) -> str | None:
    """Ask for a registered pipeline; None where there is none."""
    names = [p.name for p in context.registry.pipelines]
    if not names:
        return None
    chosen = st.selectbox(
        "Pipeline", names, key=key, label_visibility="collapsed", bind="query-params"
    )
    return chosen if chosen in names else names[0]


def version_label(row: VersionRow) -> str:
    """Return how a list shows a version."""
    return f"Version {row.number} · {short_time(row.captured_at)}"
