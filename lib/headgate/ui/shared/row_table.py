"""A table whose selected row is the one that the address names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from headgate.ui.shared.address_state import select, selected
from headgate.ui.shared.keys import Param

SHOWN_AT_ONCE = 15
_HEIGHT = 560


def pick_row(
    frame: pd.DataFrame, ids: Sequence[str], *, key: str, param: Param, widths: Mapping[str, int]
) -> None:
    """Show the rows; `ids` has one for each, and the selected one goes into the address.

    `widths` are those of the columns in pixels, at least: with the widths of their contents, the
    last columns of a table beside its details would be cut off.
    """
    # Another number of rows is another table: a selection is by position.
    key = f"{key}-{len(ids)}"
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        column_config={
            name: st.column_config.TextColumn(width=pixels) for name, pixels in widths.items()
        },
        height="content" if len(ids) < SHOWN_AT_ONCE else _HEIGHT,
        on_select=lambda: _picked(key, ids, param),
        selection_mode="single-row",
        selection_default={
            "selection": {"rows": [n for n, i in enumerate(ids) if i == selected(param)]}
        },
    )


def _picked(key: str, ids: Sequence[str], param: Param) -> None:
    chosen = st.session_state[key].selection.rows
    select(ids[chosen[0]] if chosen else None, param)
