"""What a comparison found: counts, differing columns as a chart and a table, and samples."""

from __future__ import annotations

import json

import streamlit as st

from headgate.model.output_comparison import OutputComparison
from headgate.text.numbers import count
from headgate.ui.shared import markup
from headgate.ui.shared.export_menu import theme
from headgate.ui.shared.keys import OutputKey
from headgate.views.charts.different_columns import columns_figure
from headgate.views.reports.output_comparison import (
    KIND_WORDS,
    comparison_json,
    headline,
    value_text,
)


def show_comparison(found: OutputComparison) -> None:
    """Show the whole of it."""
    tone, glyph = ("resumes", "✓") if found.equal else ("refuses", "≠")
    word = "Equal" if found.equal else "Different"
    st.html(markup.verdict(glyph, word, headline(found), tone))
    st.html(_tiles(found))
    if found.notes:
        st.html(markup.bullets(found.notes))
    differing = [c for c in found.columns if c.different]
    left, right = st.columns(2, gap="medium")
    with left:
        if differing:
            st.html(markup.section("Different rows by column"))
            st.plotly_chart(
                columns_figure(found.columns, found.different, theme()),
                config={"displayModeBar": False}, key="different_columns", width="stretch",
            )  # fmt: skip
    with right:
        if found.columns:
            st.html(markup.section("Columns"))
            st.dataframe(_columns(found), hide_index=True, width="stretch", height="content")
    if found.samples:
        st.html(markup.section("Samples") + markup.quiet("At most 20 rows. Secrets are masked."))
        st.dataframe(_samples(found), hide_index=True, width="stretch", height="content")
    st.download_button(
        "Download JSON", data=json.dumps({"schema": 1} | comparison_json(found), indent=2),
        file_name="comparison.json", mime="application/json", key=OutputKey.DOWNLOAD,
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _tiles(found: OutputComparison) -> str:
    return markup.tiles(
        (
            ("Rows in A", count(found.rows_a), f"{found.rows_a:,}"),
            ("Rows in B", count(found.rows_b), f"{found.rows_b:,}"),
            ("Missing", count(found.missing), "only in A"),
            ("Extra", count(found.extra), "only in B"),
            ("Different", count(found.different), "same key, different values"),
        )
    )


def _columns(found: OutputComparison) -> list[dict[str, object]]:
    return [
        {
            "column": c.name,
            "different rows": c.different,
            "type in A": c.type_a or "none",
            "type in B": c.type_b or "none",
        }
        for c in sorted(found.columns, key=lambda c: -c.different)
    ]


def _samples(found: OutputComparison) -> list[dict[str, str]]:
    rows = []
    for sample in found.samples:
        names = sample.columns or tuple(sample.a or sample.b or ())
        rows.append(
            {
                "row": KIND_WORDS[sample.kind],
                **{name: value_text(value) for name, value in sample.key.items()},
                "columns": ", ".join(names),
                "A": _values(sample.a, names),
                "B": _values(sample.b, names),
            }
        )
    return rows


def _values(side: object, names: tuple[str, ...]) -> str:
    if not isinstance(side, dict):
        return "–"
    return ", ".join(f"{name}: {value_text(side[name])}" for name in names)
