"""Choose the two sides of a comparison: stored versions, or evidence put in for either."""

from __future__ import annotations

import streamlit as st

from headgate.store.rows import VersionRow
from headgate.ui.evidence.evidence_form import evidence_form
from headgate.ui.shared.choose_one import choose
from headgate.ui.shared.choose_pipeline import observed_last, version_label
from headgate.ui.shared.details_panel import plain
from headgate.ui.shared.given_evidence import GIVEN, Given, given, keep
from headgate.ui.shared.keys import CompareKey, Param
from headgate.usecases.context import Context


def pick_side(word: str, rows: tuple[VersionRow, ...], key: CompareKey, usual: str) -> str:
    """Return the chosen version's number, or `GIVEN` for other evidence; both as text."""
    labels = {str(row.number): version_label(row).removeprefix("Version ") for row in rows} | {
        GIVEN: "Other evidence …"
    }
    return choose(
        word,
        list(labels),
        key=key,
        usual=usual,
        shown=lambda option: f"{word}: {labels[option]}",
        forgets=(Param.FINDING,),
        noun="Version",
    )


def usual_sides(rows: tuple[VersionRow, ...]) -> tuple[str, str]:
    """Return what is compared at first: what runs with what was captured since.

    Without a later capture it is the two newest versions, and evidence where there are none.
    """
    numbers = [str(row.number) for row in rows]
    if len(numbers) < 2:
        return (numbers[0], GIVEN) if numbers else (GIVEN, GIVEN)
    runs = str(observed_last(rows).number)
    return (numbers[1], numbers[0]) if runs == numbers[0] else (runs, numbers[0])


def side_evidence(pipeline: str | None, side: str, key: CompareKey) -> Given | None:
    """Return what to read for a side, None while evidence is still to come."""
    return given(key) if side == GIVEN else Given((f"{pipeline}@{side}",))


def ask_side(context: Context, pipeline: str | None, word: str, key: CompareKey) -> None:
    """Show the form for the evidence of one side; what was understood is kept at once."""
    st.html(f'<div class="hg-section">{word}</div>')
    what = evidence_form(context, key=key, pipeline=pipeline)
    if what is not None and what != given(key):
        keep(key, what)
        st.rerun(scope="app")


def given_line(word: str, what: Given, key: CompareKey) -> None:
    """Show what stands for a side, and let go of it on request."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{word}**: {plain(what.name())}", width="content")
        st.button(
            "Change evidence", key=f"{key}_other", type="tertiary", icon=":material/edit:",
            on_click=keep, args=(key, None),
        )  # fmt: skip
