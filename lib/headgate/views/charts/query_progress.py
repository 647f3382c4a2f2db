"""Charts of a query's batches as one Plotly figure: two columns, one common time axis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from headgate.views.charts.query_progress_series import Chart, Line, Unit
from headgate.views.layout.label_size import shorten

LIGHT = ("#0072B2", "#A85B00", "#00775A", "#A0447A", "#6A4FB3", "#526077", "#7A5C00", "#B4003C")
DARK = ("#4AA8E8", "#F0A93B", "#2FC29A", "#E38BBF", "#A992EE", "#93A3BA", "#D9BC5B", "#FF5C84")
"""Colours of the pages' `tokens.css`."""
COLUMNS = 2
ROW = 186
"""Height of a row of charts, pixels."""
INSTANT = timedelta(milliseconds=1)
ALONE = timedelta(minutes=1)
"""Time shown before and after a single batch."""
FEW = 40
"""Maximum number of batches that are drawn as bars or dots. More batches are drawn as lines."""
MOST_RESTARTS = 60


def progress_figure(
    charts: Sequence[Chart], restarts: Sequence[datetime] = (), *, dark: bool = False
) -> go.Figure:
    """Return all charts; zooming one zooms all, restarts are dotted lines through each."""
    rows = -(-len(charts) // COLUMNS)
    figure = make_subplots(
        rows=rows, cols=COLUMNS, horizontal_spacing=0.06,
        vertical_spacing=0.24 / rows if rows > 1 else 0,
    )  # fmt: skip
    for number, chart in enumerate(charts):
        _draw(figure, chart, number, DARK if dark else LIGHT)
        _restarts(figure, restarts, number, dark)
    _arrange(figure, charts, rows, dark)
    return figure


def _draw(figure: go.Figure, chart: Chart, number: int, hues: Sequence[str]) -> None:
    row, column = divmod(number, COLUMNS)
    for place, line in enumerate(chart.lines):
        trace = _trace(chart, line, hues[place % len(hues)])
        trace.update(legend=_legend(number), showlegend=len(chart.lines) > 1)
        figure.add_trace(trace, row=row + 1, col=column + 1)


def _trace(chart: Chart, line: Line, hue: str) -> Any:
    name = shorten(line.name, 28).replace("&", "&amp;").replace("<", "&lt;")
    at, values, batches = _broken(chart, line)
    shared = {
        "x": at, "y": values, "name": name, "customdata": batches,
        "hovertemplate": f"{name}: %{{y:,.4~g}} {chart.unit}<extra>batch %{{customdata}}</extra>",
    }  # fmt: skip
    if chart.stacked and len(chart.at) <= FEW:
        return go.Bar(**shared, marker={"color": hue, "line": {"width": 0}}, width=_bar(chart))
    if chart.stacked:
        return go.Scatter(
            **shared, mode="lines", stackgroup="whole", line={"color": hue, "width": 0.8}
        )
    mode = "lines+markers" if len(chart.at) <= FEW else "lines"
    line_ = {"color": hue, "width": 1.7}
    return go.Scatter(**shared, mode=mode, line=line_, marker={"color": hue, "size": 5})


def _broken(chart: Chart, line: Line) -> tuple[list[Any], list[Any], list[Any]]:
    """Return x, y and batch numbers with a gap before each run: nothing ran in between."""
    gap = 0.0 if chart.stacked else None
    at: list[Any] = []
    values: list[Any] = []
    batches: list[Any] = []
    for place, row in enumerate(zip(chart.at, line.values, chart.batches, strict=True)):
        if place in chart.breaks:
            before = chart.batches[place - 1]
            for moment in (chart.at[place - 1] + INSTANT, row[0] - INSTANT):
                at.append(moment)
                values.append(gap)
                batches.append(before)
        at.append(row[0])
        values.append(row[1])
        batches.append(row[2])
    return at, values, batches


def _bar(chart: Chart) -> float:
    """Return the width of a bar in milliseconds: most of the shortest time between batches."""
    steps = [(b - a).total_seconds() for a, b in pairwise(chart.at) if b > a]
    return 800 * min(steps, default=ALONE.total_seconds() / 6)


def _legend(number: int) -> str:
    return "legend" if number == 0 else f"legend{number + 1}"


def _restarts(figure: go.Figure, restarts: Sequence[datetime], number: int, dark: bool) -> None:
    axis = "" if number == 0 else str(number + 1)
    for at in restarts[-MOST_RESTARTS:]:
        figure.add_shape(
            type="line", x0=at, x1=at, y0=0, y1=1, xref=f"x{axis}", yref=f"y{axis} domain",
            line={"color": "#D9A3A9" if dark else "#8A4A52", "width": 1.2, "dash": "dot"},
        )  # fmt: skip


def _arrange(figure: go.Figure, charts: Sequence[Chart], rows: int, dark: bool) -> None:
    figure.update_layout(
        height=ROW * rows + 60,
        margin={"l": 4, "r": 10, "t": 34, "b": 34},
        hovermode="x unified",
        barmode="stack",
        bargap=0.15,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    grid = "rgba(229,234,242,.13)" if dark else "rgba(15,23,42,.09)"
    text = "#B6C0D0" if dark else "#4A5568"
    ink = "#E5EAF2" if dark else "#0F172A"
    figure.update_xaxes(
        matches="x", showgrid=False, tickfont={"color": text, "size": 12}, range=_range(charts),
        showticklabels=False, ticks="outside", ticklen=3, tickcolor=grid,
    )  # fmt: skip
    for number, chart in enumerate(charts):
        place = {"row": number // COLUMNS + 1, "col": number % COLUMNS + 1}
        figure.update_yaxes(
            **place, rangemode="tozero", nticks=5, gridcolor=grid, zeroline=False, automargin=True,
            tickformat=_ticks(chart), tickfont={"color": text, "size": 12},
        )  # fmt: skip
        if number + COLUMNS >= len(charts):
            figure.update_xaxes(**place, showticklabels=True)
        _name(figure, chart, number, ink, text)


def _ticks(chart: Chart) -> str:
    """Return how an axis writes its numbers: in thousands where there are, never in thousandths."""
    most = max((v for line in chart.lines for v in line.values if v is not None), default=0)
    least = 100_000 if chart.unit is Unit.SECONDS else 1000
    return "~s" if most >= least else "~g"


def _range(charts: Sequence[Chart]) -> list[datetime]:
    """Return the time from the first to the last batch, with some margin around a lone one."""
    first, last = charts[0].at[0], charts[0].at[-1]
    if first == last:
        return [first - ALONE, last + ALONE]
    room = (last - first) / 100
    return [first - room, last + room]


def _name(figure: go.Figure, chart: Chart, number: int, ink: str, text: str) -> None:
    """Write the title above its chart, and the legend at the other end of that line."""
    axis = "" if number == 0 else str(number + 1)
    across = figure.layout[f"xaxis{axis}"].domain
    top = figure.layout[f"yaxis{axis}"].domain[1]
    figure.add_annotation(
        text=f"<b>{chart.title}</b>  <span style='color:{text}'>{chart.unit}</span>",
        x=across[0], y=top, xref="paper", yref="paper", xanchor="left", yanchor="bottom",
        yshift=5, showarrow=False, font={"size": 13.5, "color": ink},
    )  # fmt: skip
    figure.update_layout(
        {
            _legend(number): {
                "orientation": "h", "x": across[1], "y": top, "xanchor": "right",
                "yanchor": "bottom", "font": {"size": 11.5, "color": text},
                "bgcolor": "rgba(0,0,0,0)", "itemwidth": 30,
            }
        }
    )  # fmt: skip
