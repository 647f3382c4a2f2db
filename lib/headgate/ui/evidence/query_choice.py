"""Ask which query of the evidence is meant, where it holds several."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from headgate.text.numbers import day_and_time, plural
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.keys import EvidenceKey
from headgate.usecases.evidence.query_rows import QueryRow
from headgate.views.layout.label_size import shorten

FEW = 8
"""Queries that can be overlooked without a search."""


def choose_query(rows: Sequence[QueryRow], key: str) -> str | None:
    """Return the id of the query that is meant: the only one, else the one that was chosen."""
    if len(rows) < 2:
        return None
    st.html(f'<div class="hg-section">{len(rows)} queries: choose one</div>')
    shown = _found(rows, key) if len(rows) > FEW else list(rows)
    if not shown:
        st.caption("No query matches this name or id.")
        return None
    with st.container(height=300 if len(shown) > 5 else "content", border=len(shown) > 5):
        by_id = {row.id: row for row in shown}
        chosen = st.radio(
            "Query",
            list(by_id),
            index=None,
            format_func=lambda i: plain(_title(by_id[i])),
            captions=[plain(_caption(r)) for r in shown],
            key=EvidenceKey.QUERY.of(key),
            label_visibility="collapsed",
        )
    return chosen


def _found(rows: Sequence[QueryRow], key: str) -> list[QueryRow]:
    words = st.text_input(
        "Find a query", key=EvidenceKey.FIND.of(key), placeholder="Find by name, id or state",
        icon=":material/search:", label_visibility="collapsed", live=True,
    )  # fmt: skip
    wanted = (words or "").casefold().split()
    return [r for r in rows if all(w in f"{r.name} {r.id} {r.state}".casefold() for w in wanted)]


def _title(row: QueryRow) -> str:
    return shorten(row.name, 60) if row.name else row.id


def _caption(row: QueryRow) -> str:
    parts = [str(row.state), plural(row.runs, "run")]
    if row.batches is not None:
        parts.append("1 batch" if row.batches == 1 else f"{row.batches} batches")
    parts.append(_when(row))
    if row.name:
        parts.append(row.id)
    return " · ".join(filter(None, parts))


def _when(row: QueryRow) -> str:
    first, last = (day_and_time(t) for t in (row.first_seen, row.last_seen))
    return first if first == last else f"{first} to {last}"
