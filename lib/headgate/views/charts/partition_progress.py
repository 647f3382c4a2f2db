"""A chart of a run: how many offsets of each Kafka partition it has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from headgate.text.numbers import count
from headgate.views.charts.figure import plotly_text
from headgate.views.layout.label_size import shorten
from headgate.views.scene.colours import PALETTES, Theme

MOST = 30
"""Maximum number of partitions in a chart: those with the most unread offsets."""
Parts = Mapping[str, Sequence[int]]


def shown_partitions(parts: Parts) -> list[str]:
    """Return the names of the partitions in a chart, by topic and number."""
    left = sorted(parts, key=lambda name: (parts[name][1] - parts[name][2], _order(name)))
    return sorted(left[:MOST], key=_order)


def partitions_figure(parts: Parts, theme: str = Theme.LIGHT) -> go.Figure:
    """Return a bar for each partition: offsets read, and those that are left.

    `parts` have the first offset, the reached one and the end by `TOPIC[PARTITION]`.
    """
    palette = PALETTES[Theme(theme)]
    names = [n for n in shown_partitions(parts) if parts[n][2] > parts[n][0]]
    places = list(range(len(names)))
    read = [max(parts[n][1] - parts[n][0], 0) for n in names]
    left = [max(parts[n][2] - parts[n][1], 0) for n in names]
    told = [
        f"{plotly_text(n)}: {r:,} of {r + rest:,} offsets read, at offset {parts[n][1]:,}"
        for n, r, rest in zip(names, read, left, strict=True)
    ]
    share = [f"{r / (r + rest):.0%}" for r, rest in zip(read, left, strict=True)]
    looks = {"y": places, "orientation": "h", "hovertext": told, "hoverinfo": "text"}
    figure = go.Figure(
        [
            go.Bar(x=read, marker={"color": palette.hues["added"]}, **looks),
            go.Bar(
                x=left, marker={"color": palette.shade(12)}, text=share, textposition="inside",
                insidetextanchor="end", textangle=0, textfont={"color": palette.text}, **looks,
            ),
        ]
    )  # fmt: skip
    figure.update_layout(
        barmode="stack",
        showlegend=False,
        height=46 + 26 * len(names),
        margin={"l": 4, "r": 12, "t": 8, "b": 26},
        bargap=0.3,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_xaxes(rangemode="tozero", tickformat="~s", nticks=5)
    figure.update_yaxes(
        autorange="reversed", automargin=True, tickvals=places,
        ticktext=[plotly_text(shorten(name, 30)) for name in names],
    )  # fmt: skip
    return figure


def reading_words(parts: Parts) -> str:
    """Return how much is read of how many partitions, in one sentence."""
    done = sum(max(at - begin, 0) for begin, at, _ in parts.values())
    total = sum(end - begin for begin, _, end in parts.values())
    ended = sum(at >= end for _, at, end in parts.values())
    more = ""
    if len(parts) > MOST:
        more = f" (the chart shows the {MOST} partitions with the most unread offsets)"
    return (
        f"{count(done)} of {count(total)} offsets read, {ended} of {len(parts)} partitions "
        f"complete{more}"
    )


def _order(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("[")
    return topic, int(number.rstrip("]"))
