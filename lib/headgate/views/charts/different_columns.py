"""A chart of two outputs: in how many rows each column differs."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from headgate.model.output_comparison import ComparedColumn
from headgate.text.numbers import count
from headgate.views.charts.figure import plotly_text
from headgate.views.layout.label_size import shorten
from headgate.views.scene.colours import PALETTES, Theme

MOST = 15


def columns_figure(
    columns: Sequence[ComparedColumn], rows: int, theme: str = Theme.LIGHT
) -> go.Figure:
    """Return bars of the columns that differ most, of `rows` different rows."""
    hue = PALETTES[Theme(theme)].hues["refuses"]
    shown = sorted((c for c in columns if c.different), key=lambda c: -c.different)[:MOST]
    places = list(range(len(shown)))
    figure = go.Figure(
        go.Bar(
            x=[c.different for c in shown],
            y=places,
            orientation="h",
            marker={"color": hue},
            text=[count(c.different) for c in shown],
            textposition="auto",
            textangle=0,
            hovertext=[plotly_text(f"{c.name}: {c.different:,} of {rows:,} rows") for c in shown],
            hoverinfo="text",
        )
    )
    figure.update_layout(
        height=46 + 30 * len(shown),
        margin={"l": 4, "r": 12, "t": 8, "b": 26},
        bargap=0.3,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_xaxes(rangemode="tozero", tickformat="~s", nticks=5)
    figure.update_yaxes(
        autorange="reversed", automargin=True, tickvals=places,
        ticktext=[plotly_text(shorten(c.name, 30)) for c in shown],
    )  # fmt: skip
    return figure
