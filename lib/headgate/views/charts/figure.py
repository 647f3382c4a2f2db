"""Plotly figures: a scene for notebooks, and charts."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from headgate.landscape.landscape import PartitionLag
from headgate.views.scene.scene import LOOK_WORDS, STATUS_WORDS, Look, Scene, SceneNode, Status

HUES: dict[str, str] = {
    Look.TOPIC: "#0072B2",
    Look.SOURCE: "#0B6E8F",
    Look.PROJECTION: "#526077",
    Look.JOIN: "#526077",
    Look.AGGREGATION: "#6A4FB3",
    Look.REPARTITION: "#A85B00",
    Look.STORE: "#00775A",
    Look.SINK: "#A0447A",
    Look.GROUP: "#526077",
    Look.PIPELINE: "#0F5FA8",
    Look.READER: "#7A5C00",
    Look.UNREAD: "#7A5C00",
    Status.ADDED: "#00825F",
    Status.REMOVED: "#5B6675",
    Status.CHANGED: "#0A4688",
    Status.UNKNOWN: "#4F3B00",
    Status.REFUSES: "#BF4A00",
    Status.SILENTLY_WRONG: "#B4003C",
}
"""The hues of the pages' `tokens.css`, light."""
DASHES = {Status.REMOVED: "dash", Status.UNKNOWN: "dot"}
EDGE = "#98A1B0"
AREA = "rgba(15, 23, 42, 0.045)"


def scene_figure(scene: Scene) -> go.Figure:
    """Return the scene as a Plotly figure: the same places, statuses and glyphs."""
    figure = go.Figure(layout=_layout(scene))
    for box in scene.boxes:
        figure.add_shape(
            type="rect", x0=box.x, y0=box.y, x1=box.x + box.width, y1=box.y + box.height,
            line={"color": "#D5DAE2", "width": 1}, fillcolor=AREA, layer="below",
        )  # fmt: skip
        figure.add_annotation(
            x=box.x + 10, y=box.y + 19, text=plotly_text(f"{box.title} {box.detail}"),
            showarrow=False, xanchor="left", font={"size": 13},
        )  # fmt: skip
    for edge in scene.edges:
        xs, ys = [x for x, _ in edge.points], [y for _, y in edge.points]
        line = {"color": HUES.get(edge.status, EDGE), "width": 1.5, "shape": "spline"}
        line["dash"] = DASHES.get(edge.status, "solid")
        figure.add_scatter(
            x=xs, y=ys, mode="lines+markers", line=line, hoverinfo="skip",
            marker={"symbol": "arrow", "angleref": "previous", "color": line["color"],
                    "size": [0] * (len(xs) - 1) + [9]},
        )  # fmt: skip
    for node in scene.nodes:
        _add_node(figure, node)
    return figure


def _layout(scene: Scene) -> dict[str, object]:
    axis = {"visible": False, "fixedrange": False}
    return {
        "template": "plotly_white",
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": {**axis, "range": [-20, scene.width + 20]},
        "yaxis": {**axis, "range": [scene.height + 20, -20], "scaleanchor": "x"},
        "height": min(900, max(320, int(scene.height * 0.8) + 40)),
        "dragmode": "pan",
    }


def _add_node(figure: go.Figure, node: SceneNode) -> None:
    hue = HUES.get(node.status, HUES[node.look])
    glyph, word = STATUS_WORDS[node.status]
    figure.add_shape(
        type="rect", x0=node.x - node.width / 2, x1=node.x + node.width / 2,
        y0=node.y - node.height / 2, y1=node.y + node.height / 2, fillcolor="white",
        line={"color": hue, "width": 1.2 if node.status is Status.SAME else 2.4,
              "dash": DASHES.get(node.status, "solid")},
    )  # fmt: skip
    label = f"{glyph} {node.text}" if glyph else node.text
    what = (
        LOOK_WORDS[node.look] if node.status is Status.SAME else f"{LOOK_WORDS[node.look]}, {word}"
    )
    figure.add_scatter(
        x=[node.x], y=[node.y], mode="text", text=[plotly_text(label)], textfont={"size": 11},
        hovertext=[f"{plotly_text(node.label)}<br>{what}"], hoverinfo="text",
    )  # fmt: skip


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
            marker={"color": HUES[Look.TOPIC]},
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
