"""Charts of the landscape: the largest consumer lags, and a consumer's position in its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from headgate.landscape.consumers import Consumer
from headgate.landscape.landscape import PartitionLag, PositionState
from headgate.model.version import Engine
from headgate.text.numbers import count
from headgate.views.charts.figure import plotly_text
from headgate.views.layout.label_size import shorten
from headgate.views.scene.colours import PALETTES, Theme

MOST = 15
MOST_PARTITIONS = 60
LOOKS: Mapping[str, str] = {Engine.SPARK: "pipeline", Engine.KAFKA_STREAMS: "aggregation"}
"""Colour of a bar by kind of consumer. Kinds without an entry have the colour of a group."""
QUIET = "rgba(128, 138, 156, 0.28)"


def lags_figure(consumers: Sequence[Consumer], theme: str = Theme.LIGHT) -> go.Figure:
    """Return bars of the largest lags, one a consumer and topic, largest first."""
    hues = PALETTES[Theme(theme)].hues
    worst = sorted(consumers, key=lambda c: -(c.lag or 0))[:MOST]
    names = [f"{shorten(c.name, 26)} · {shorten(c.topic, 22)}" for c in worst]
    figure = go.Figure(
        go.Bar(
            x=[c.lag for c in worst],
            y=list(range(len(worst))),
            orientation="h",
            marker={"color": [hues[LOOKS.get(c.kind, "reader")] for c in worst]},
            text=[count(c.lag) for c in worst],
            textposition="auto",
            textangle=0,
            hovertext=[plotly_text(f"{c.name}, {c.topic}: {c.lag:,}") for c in worst],
            hoverinfo="text",
        )
    )
    figure.update_layout(_layout(46 + 30 * len(worst)))
    figure.update_xaxes(rangemode="tozero", tickformat="~s", nticks=5)
    figure.update_yaxes(
        autorange="reversed", automargin=True, tickvals=list(range(len(worst))),
        ticktext=[plotly_text(n) for n in names],
    )  # fmt: skip
    return figure


def partitions_figure(positions: Sequence[PartitionLag], theme: str = Theme.LIGHT) -> go.Figure:
    """Return each partition's log from begin to end, what is not read yet, and what is lost.

    Offsets count from each log's own begin (or the position, if that is before it), so
    partitions of very different offsets can be compared.
    """
    hues = PALETTES[Theme(theme)].hues
    shown = [p for p in positions if p.end is not None][:MOST_PARTITIONS]
    names = [str(p.partition) for p in shown]
    figure = go.Figure()
    parts = (
        ("read", [_read(p) for p in shown], QUIET),
        ("lost", [p.lost or 0 for p in shown], hues["refuses"]),
        ("not read yet", [max((p.lag or 0) - (p.lost or 0), 0) for p in shown], hues["topic"]),
    )
    for name, values, colour in parts:
        if any(values):
            figure.add_bar(
                x=values, y=names, orientation="h", name=name, marker={"color": colour},
                hovertemplate="partition %{y}: %{x:,} " + name + "<extra></extra>",
            )  # fmt: skip
    figure.update_layout(
        _layout(84 + 22 * len(shown)), barmode="stack", showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    figure.update_xaxes(rangemode="tozero", tickformat="~s", nticks=5)
    figure.update_yaxes(autorange="reversed", type="category", title="Partition")
    return figure


def _read(position: PartitionLag) -> int:
    if position.position is None or position.state is PositionState.BEYOND_END:
        return 0
    return max(position.position - (position.begin or 0), 0)


def _layout(height: int) -> dict[str, object]:
    return {
        "height": height,
        "margin": {"l": 4, "r": 12, "t": 28, "b": 26},
        "bargap": 0.3,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
