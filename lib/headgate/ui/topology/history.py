"""A pipeline's versions over time: when, from where, what changed; draw one, compare two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from headgate.errors import HeadgateError
from headgate.store.rows import Origin, VersionRow
from headgate.text.numbers import ago, plural, short_time
from headgate.ui.shared import cached_reads, markup
from headgate.ui.shared.choose_pipeline import observed_last
from headgate.ui.shared.given_evidence import Given
from headgate.ui.shared.keys import CompareKey, Param, TopologyKey
from headgate.ui.topology.activity import is_running
from headgate.usecases.context import Context
from headgate.views.scene.outcome_words import GLYPHS
from headgate.views.words.version_history import change_line

if TYPE_CHECKING:
    from headgate.ui.topology.graph import Chosen

ONCE = 25
"""Versions shown at first: each is compared with the version before."""
MORE = "history_more"
ORIGINS = {Origin.OBSERVED: "seen running", Origin.CAPTURED: "captured"}


def history_view(context: Context, chosen: Chosen) -> None:
    """Show the stored versions, newest first."""
    if chosen.pipeline is None or not chosen.rows:
        st.html(
            markup.empty(
                "No stored version",
                "Choose + to add evidence. Then store the evidence as a version of a pipeline.",
            )
        )
        return
    shown = ONCE * (1 + int(st.session_state.get(MORE, 0)))
    rows = chosen.rows[:shown]
    runs = observed_last(chosen.rows)
    state = "running" if is_running(context, chosen.pipeline) else "last seen"
    _, middle, _ = st.columns([1, 8, 1])
    with middle, st.container(key="history", gap=None):
        for row in rows:
            _row(context, chosen, row, runs, state)
        if len(chosen.rows) > shown:
            more = plural(min(ONCE, len(chosen.rows) - shown), "older version")
            st.button(f"Show {more}", on_click=_more)


def _more() -> None:
    st.session_state[MORE] = int(st.session_state.get(MORE, 0)) + 1


def _row(context: Context, chosen: Chosen, row: VersionRow, runs: VersionRow, state: str) -> None:
    """Show one version: when it was seen, what changed, and what can be done with it.

    `state` is said of the one that was seen running last.
    """
    before = row.number - 1
    is_chosen = chosen.row is not None and chosen.row.number == row.number
    glyph, word, line = _changes(context, row)
    with st.container(horizontal=True, gap="small", key=f"history-row-{row.number}",
                      vertical_alignment="center"):  # fmt: skip
        st.html(
            markup.version_entry(
                number=row.number,
                when=f"{short_time(row.captured_at)} · {ago(row.captured_at)}",
                origin=ORIGINS[row.origin],
                runs=state if row.number == runs.number and row.origin is Origin.OBSERVED else "",
                chosen=is_chosen,
                outcome=(glyph, word),
                line=line,
                summary=row.summary,
            ),
            width="stretch",
        )
        st.button(
            "Show version", key=f"draw-{row.number}", on_click=_draw, args=(row.number,),
            icon=":material/hub:", type="tertiary",
        )  # fmt: skip
        _compare(row.pipeline, before, row.number, "Compare with previous", before >= 1)
        seen = state if runs.origin is Origin.OBSERVED else "newest"
        different = runs.number != row.number
        _compare(row.pipeline, runs.number, row.number, f"Compare with {seen}", different)


def _compare(pipeline: str, one: int, other: int, word: str, possible: bool) -> None:
    """Offer the comparison of two versions, the older one as what is there before."""
    old, new = sorted((one, other))
    st.page_link(
        "pages/compare.py",
        label=word,
        icon=":material/difference:",
        help=f"Compare version {old} with version {new}" if possible else None,
        disabled=not possible,
        query_params=[
            (CompareKey.PIPELINE, pipeline),
            (CompareKey.BEFORE, str(old)),
            (CompareKey.AFTER, str(new)),
        ],
    )


def _draw(number: int) -> None:
    for name in (*Param, TopologyKey.VIEW):
        st.query_params.pop(name, None)
    st.query_params[TopologyKey.VERSION] = str(number)


def _changes(context: Context, row: VersionRow) -> tuple[str, str, str]:
    """Return the outcome of going from the version before to this one, and what changed."""
    if row.number == 1:
        return "", "", "first stored version"
    old, new = (Given((f"{row.pipeline}@{n}",)) for n in (row.number - 1, row.number))
    try:
        report = cached_reads.comparison(context, old, new).report
    except HeadgateError as error:
        return "?", "unknown", str(error)
    return GLYPHS[report.outcome], report.outcome.word, change_line(report)
