"""Where each partition goes, as a table that is searched, also for thousands of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from headgate.reprocess.plan import Plan
from headgate.text.numbers import exact
from headgate.ui.shared import markup
from headgate.views.words.impact import plural_exact

SEARCHED_FROM = 12
"""With fewer rows, no search field is shown."""
_SHOWN_AT_ONCE, _HEIGHT = 10, 390
_NUMBERS = ("From", "To", "Change")


def offsets_table(plan: Plan, *, key: str) -> None:
    """Show the moved partitions of a plan; nothing where none is moved."""
    moves = plan.moves()
    if not moves:
        return
    st.html(markup.section(f"Offsets of {plural_exact(len(moves), 'partition')}"))
    if len(moves) > SEARCHED_FROM:
        wanted = st.text_input(
            "Find a partition",
            key=f"{key}_find",
            placeholder="Topic, or partition such as orders[3]",
            label_visibility="collapsed",
        )
        moves = found(moves, wanted)
        if not moves:
            st.html(markup.quiet(f"No partition has `{wanted}` in its name."))
            return
    st.dataframe(
        frame(moves),
        hide_index=True,
        key=f"{key}_offsets",
        column_config={name: st.column_config.TextColumn(alignment="right") for name in _NUMBERS},
        height="content" if len(moves) <= _SHOWN_AT_ONCE else _HEIGHT,
    )


def found(moves: Sequence[Mapping[str, Any]], wanted: str) -> list[Mapping[str, Any]]:
    """Return those whose `topic[partition]` has the words in it, in any order."""
    words = wanted.lower().split()
    return [m for m in moves if all(w in f"{m['topic']}[{m['partition']}]".lower() for w in words)]


def frame(moves: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the rows; a partition without an offset has none, which is not zero."""
    return pd.DataFrame(
        {
            "Topic": [m["topic"] for m in moves],
            "Partition": [m["partition"] for m in moves],
            "From": [_offset(m.get("from")) for m in moves],
            "To": [_offset(m.get("to")) for m in moves],
            "Change": [_by(m.get("from"), m.get("to")) for m in moves],
        }
    )


def _offset(value: int | None) -> str:
    return "none" if value is None else exact(value)


def _by(begin: int | None, end: int | None) -> str:
    if begin is None or end is None:
        return ""
    return "none" if begin == end else f"{'+' if end > begin else '−'}{exact(abs(end - begin))}"
