"""Text as Plotly shows it, and the lag of one group by partition."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from headgate.landscape.landscape import PartitionLag


def plotly_text(label: str) -> str:
    """Return a label as Plotly shows it: it reads a little HTML in texts, and a name has none."""
    return label.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def lag_figure(positions: Sequence[PartitionLag]) -> go.Figure:
    """Return bars of the lag by partition; positions without a lag are left out."""
    known = [p for p in positions if p.lag is not None]
    figure = go.Figure(
        go.Bar(
            x=[p.lag for p in known],
            y=[f"{p.topic} {p.partition}" for p in known],
            orientation="h",
            marker={"color": "#0072B2"},
            hovertemplate="%{y}: %{x:,} records<extra></extra>",
        )
    )
    figure.update_layout(
        height=46 + 20 * len(known),
        margin={"l": 4, "r": 8, "t": 4, "b": 24},
        xaxis={"rangemode": "tozero", "tickformat": "~s", "nticks": 4},
        yaxis={"autorange": "reversed", "automargin": True},
        bargap=0.35,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    return figure
