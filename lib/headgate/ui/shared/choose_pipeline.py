"""Ask which pipeline, and say how versions are called."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from headgate.errors import NotFoundError
from headgate.store.rows import Origin, VersionRow
from headgate.text.numbers import day_and_time
from headgate.ui.shared.choose_one import choose, choose_first, wrong_address
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import CompareKey, Param, TopologyKey
from headgate.usecases.context import Context

OF_A_PIPELINE = (*Param, TopologyKey.VERSION, CompareKey.BEFORE, CompareKey.AFTER)
"""Query parameters that apply to one pipeline only."""


def check_address(context: Context, key: str) -> None:
    """End the page if the address names no registered pipeline: it must not show another one."""
    names = [p.name for p in context.registry.pipelines]
    unknown = wrong_address(key, names)
    if names and unknown:
        # A fragment would show an error that is raised in it as a defect.
        show_problem(NotFoundError(f"pipeline {unknown} isn't in headgate.toml: choose a pipeline"))
        choose_first("Pipeline", names, key=key, forgets=OF_A_PIPELINE)
        st.stop()


def pick_pipeline(context: Context, key: str) -> str | None:
    """Return the chosen pipeline; None if none is registered."""
    names = [p.name for p in context.registry.pipelines]
    if not names:
        return None
    return choose("Pipeline", names, key=key, usual=names[0], forgets=OF_A_PIPELINE)


def version_label(row: VersionRow) -> str:
    """Return how a list shows a version: its number, when it was seen, and whether it ran."""
    captured = " · captured" if row.origin is Origin.CAPTURED else ""
    return f"Version {row.number} · {day_and_time(row.captured_at)}{captured}"


def observed_last(rows: Sequence[VersionRow]) -> VersionRow:
    """Return, of rows that begin with the newest, what was seen running last; else the newest."""
    return next((r for r in rows if r.origin is Origin.OBSERVED), rows[0])
